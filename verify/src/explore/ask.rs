//! Addresses as questions. An address determines its answer, so that a file can contain both.

use super::Refusal;
use super::http::{decoded, encoded};
use crate::error::Error;
use crate::params::Assignment;
use crate::simulation;
use roundel_spec::Placement;

/// A question about a collective, or about several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// What there is.
    Catalogue,
    /// A call as a whole.
    View(Call),
    /// The messages of a round, and what ranks hold after it; step 0 is the start.
    Step(Call, usize),
    /// What one rank does, and what is claimed about it.
    Rank(Call, usize),
    /// A slot of a rank, by its row in the picture.
    Cell(Call, usize, usize),
    /// The way of a block of an all-to-all.
    Route(Call, usize),
    /// What a call costs on a machine.
    Cost(Call, Option<String>),
    /// Whether an edited declaration is right.
    Check(Call),
    /// Starts a proof.
    Prove(Call),
    /// How far a proof has come.
    Proof(usize),
    /// What a program did.
    Trace,
}

/// A call: the collective, its ranks, where they are, and its parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// The collective.
    pub collective: String,
    /// The number of ranks.
    pub p: usize,
    /// Ranks per node.
    pub ppn: Option<usize>,
    /// Whether ranks are placed cyclically.
    pub cyclic: bool,
    /// The place of each rank, if it is given one by one: its node, and its parts.
    pub nodes: Vec<Vec<usize>>,
    /// Values of parameters.
    pub set: Vec<Assignment>,
    /// Whether inner collectives are known by their contracts alone, as at compile time.
    pub contract: bool,
}

/// The parts of an address behind `?`.
struct Parts(Vec<(String, String)>);

impl Parts {
    fn new(query: &str) -> Self {
        let part = |part: &str| {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            (decoded(name), decoded(value))
        };
        Parts(query.split('&').filter(|part| !part.is_empty()).map(part).collect())
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    fn number(&self, name: &'static str) -> Result<Option<usize>, Refusal> {
        let wrong = |text: &str| Refusal::Question { name, reason: format!("`{text}` is no whole number") };
        self.get(name).map(|text| text.parse().map_err(|_| wrong(text))).transpose()
    }

    fn needed(&self, name: &'static str) -> Result<usize, Refusal> {
        self.number(name)?.ok_or(Refusal::Question { name, reason: "it is missing".into() })
    }
}

impl Question {
    /// Reads an address.
    pub fn read(path: &str, query: &str) -> Result<Self, Refusal> {
        let parts = Parts::new(query);
        let call = || Call::read(&parts);
        Ok(match path {
            "/api/catalogue" => Question::Catalogue,
            "/api/view" => Question::View(call()?),
            "/api/step" => Question::Step(call()?, parts.needed("step")?),
            "/api/rank" => Question::Rank(call()?, parts.needed("rank")?),
            "/api/cell" => Question::Cell(call()?, parts.needed("rank")?, parts.needed("row")?),
            "/api/route" => Question::Route(call()?, parts.needed("block")?),
            "/api/cost" => Question::Cost(call()?, parts.get("machine").map(str::to_string)),
            "/api/check" => Question::Check(call()?),
            "/api/prove" => Question::Prove(call()?),
            "/api/proof" => Question::Proof(parts.needed("job")?),
            "/api/trace" => Question::Trace,
            _ => return Err(Refusal::NotFound),
        })
    }

    /// Whether it changes or reads something that a page sends along.
    pub fn is_post(&self) -> bool {
        matches!(self, Question::Check(_) | Question::Prove(_) | Question::Trace)
    }

    /// Its address, as the page writes it.
    pub fn address(&self) -> String {
        match self {
            Question::Catalogue => "/api/catalogue".into(),
            Question::View(call) => format!("/api/view?{}", call.address()),
            Question::Step(call, step) => format!("/api/step?{}&step={step}", call.address()),
            Question::Rank(call, rank) => format!("/api/rank?{}&rank={rank}", call.address()),
            Question::Cell(call, rank, row) => format!("/api/cell?{}&rank={rank}&row={row}", call.address()),
            Question::Route(call, block) => format!("/api/route?{}&block={block}", call.address()),
            Question::Cost(call, None) => format!("/api/cost?{}", call.address()),
            Question::Cost(call, Some(machine)) => {
                format!("/api/cost?{}&machine={}", call.address(), encoded(machine))
            }
            Question::Check(call) => format!("/api/check?{}", call.address()),
            Question::Prove(call) => format!("/api/prove?{}", call.address()),
            Question::Proof(job) => format!("/api/proof?job={job}"),
            Question::Trace => "/api/trace".into(),
        }
    }
}

impl Call {
    fn read(parts: &Parts) -> Result<Self, Refusal> {
        let collective = parts.get("collective").unwrap_or_default().to_string();
        let p = parts.number("p")?.unwrap_or(8);
        let limit = simulation::MAX_P;
        if !(1..=limit).contains(&p) {
            return Err(Error::Ranks { p, limit, reason: "every rank may have to be followed" }.into());
        }
        let nodes = parts.get("nodes").filter(|text| !text.is_empty()).map(places).transpose()?.unwrap_or_default();
        if !nodes.is_empty() && nodes.len() != p {
            let reason = format!("it places {} ranks, and p is {p}", nodes.len());
            return Err(Refusal::Question { name: "nodes", reason });
        }
        let set = parts.0.iter().filter(|(name, _)| name == "set").map(|(_, value)| value.parse());
        Ok(Call {
            collective,
            p,
            ppn: parts.number("ppn")?,
            cyclic: parts.get("placement") == Some("cyclic"),
            nodes,
            set: set.collect::<Result<_, Error>>()?,
            contract: parts.get("contract") == Some("1"),
        })
    }

    /// The call as a part of an address; the page writes the parts in the same order.
    pub fn address(&self) -> String {
        let mut parts = vec![format!("collective={}", encoded(&self.collective)), format!("p={}", self.p)];
        parts.extend(self.ppn.map(|ppn| format!("ppn={ppn}")));
        parts.extend(self.cyclic.then(|| "placement=cyclic".to_string()));
        if !self.nodes.is_empty() {
            let place = |path: &Vec<usize>| path.iter().map(usize::to_string).collect::<Vec<_>>().join(".");
            let places: Vec<String> = self.nodes.iter().map(place).collect();
            parts.push(format!("nodes={}", encoded(&places.join(","))));
        }
        for Assignment { name, values } in &self.set {
            let values: Vec<String> = values.iter().map(i64::to_string).collect();
            parts.push(format!("set={}", encoded(&format!("{name}={}", values.join(",")))));
        }
        parts.extend(self.contract.then(|| "contract=1".to_string()));
        parts.join("&")
    }

    /// The placement of the ranks.
    pub fn placement(&self) -> Result<Placement, Refusal> {
        let p = self.p;
        match (self.nodes.is_empty(), self.ppn, self.cyclic) {
            (false, ..) => Ok(Placement::from_levels(&self.nodes)),
            (true, Some(0), _) => Err(Error::NoRanksPerNode { p }.into()),
            (true, None, true) => Err(Error::CyclicOverWhat.into()),
            (true, Some(ppn), true) => Ok(Placement::cyclic(p, ppn)),
            (true, ppn, false) => Ok(Placement::consecutive(p, ppn.unwrap_or(p))),
        }
    }
}

/// Places of ranks, as in `0.1,0.0,1.0`.
fn places(text: &str) -> Result<Vec<Vec<usize>>, Refusal> {
    let wrong = |part: &str| Refusal::Question { name: "nodes", reason: format!("`{part}` is no place") };
    let path =
        |path: &str| path.split('.').map(|part| part.parse().map_err(|_| wrong(path))).collect::<Result<_, _>>();
    text.split(',').map(path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_as_it_is_written() {
        for query in [
            "collective=allgather%2Fbruck&p=8",
            "collective=sparbit&p=12&ppn=4&placement=cyclic&set=ports%3D1%2C2&set=root%3D3&contract=1",
            "collective=a&p=3&nodes=0.1%2C0.2%2C1.0",
        ] {
            let address = format!("/api/step?{query}&step=3");
            let (path, rest) = address.split_once('?').expect("has parts");
            assert_eq!(Question::read(path, rest).expect("is right").address(), address);
        }
    }

    #[test]
    fn wrong_addresses_are_refused() {
        for (path, query, words) in [
            ("/api/view", "p=1000000000", "1000000000"),
            ("/api/view", "p=0", "p"),
            ("/api/view", "p=x", "`x` is no whole number"),
            ("/api/view", "p=-1", "`-1` is no whole number"),
            ("/api/view", "p=3&nodes=0,1", "it places 2 ranks"),
            ("/api/view", "p=3&nodes=0,x,1", "`x` is no place"),
            ("/api/view", "set=radix", "radix"),
            ("/api/step", "p=3", "`step` is wrong: it is missing"),
            ("/api/nothing", "", "nothing at this address"),
            ("/api/../secret", "", "nothing at this address"),
        ] {
            let refused = Question::read(path, query).expect_err(query);
            assert!(refused.to_string().contains(words), "{refused}");
        }
        let call = |query: &str| Call::read(&Parts::new(query)).expect("is read").placement().map(|_| ());
        assert!(call("p=4&ppn=0").is_err() && call("p=4&placement=cyclic").is_err() && call("p=4&ppn=9").is_ok());
    }
}
