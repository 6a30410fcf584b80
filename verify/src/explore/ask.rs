//! Addresses as questions. An address determines its answer, so that a file can contain both.

use super::Refusal;
use super::http::{decoded, encoded};
use crate::cli::placing;
use crate::error::Error;
use crate::params::Assignment;
use crate::simulation;
use roundel_spec::Placement;
use serde_json::{Value, json};

/// A question about a collective, or about several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageQuestion {
    /// What there is.
    Catalogue,
    /// A call as a whole.
    View(ExploredCall),
    /// The messages of a round, and what ranks hold after it; step 0 is the start.
    Step(ExploredCall, usize),
    /// What one rank does, and what is claimed about it.
    Rank(ExploredCall, usize),
    /// A slot of a rank, by its row in the picture.
    Cell(ExploredCall, usize, usize),
    /// The way of a block of an all-to-all.
    Route(ExploredCall, usize),
    /// What a call costs on a machine.
    Cost(ExploredCall, Option<String>),
    /// Whether an edited declaration is right.
    Check(ExploredCall),
    /// Starts a proof.
    Prove(ExploredCall),
    /// How far a proof has come.
    Proof(usize),
    /// What a program did.
    Trace,
    /// The places that a file names.
    Placement,
}

/// A call: the collective, its ranks, where they are, and its parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExploredCall {
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

impl PageQuestion {
    /// Reads an address.
    pub fn read(path: &str, query: &str) -> Result<Self, Refusal> {
        let parts = Parts::new(query);
        let call = || ExploredCall::read(&parts);
        Ok(match path {
            "/api/catalogue" => PageQuestion::Catalogue,
            "/api/view" => PageQuestion::View(call()?),
            "/api/step" => PageQuestion::Step(call()?, parts.needed("step")?),
            "/api/rank" => PageQuestion::Rank(call()?, parts.needed("rank")?),
            "/api/cell" => PageQuestion::Cell(call()?, parts.needed("rank")?, parts.needed("row")?),
            "/api/route" => PageQuestion::Route(call()?, parts.needed("block")?),
            "/api/cost" => PageQuestion::Cost(call()?, parts.get("machine").map(str::to_string)),
            "/api/check" => PageQuestion::Check(call()?),
            "/api/prove" => PageQuestion::Prove(call()?),
            "/api/proof" => PageQuestion::Proof(parts.needed("job")?),
            "/api/trace" => PageQuestion::Trace,
            "/api/placement" => PageQuestion::Placement,
            _ => return Err(Refusal::NotFound),
        })
    }

    /// Whether it changes or reads something that a page sends along.
    pub fn is_post(&self) -> bool {
        use PageQuestion::{Check, Placement, Prove, Trace};
        matches!(self, Check(_) | Prove(_) | Trace | Placement)
    }

    /// Its address, as the page writes it.
    pub fn address(&self) -> String {
        match self {
            PageQuestion::Catalogue => "/api/catalogue".into(),
            PageQuestion::View(call) => format!("/api/view?{}", call.address()),
            PageQuestion::Step(call, step) => format!("/api/step?{}&step={step}", call.address()),
            PageQuestion::Rank(call, rank) => format!("/api/rank?{}&rank={rank}", call.address()),
            PageQuestion::Cell(call, rank, row) => format!("/api/cell?{}&rank={rank}&row={row}", call.address()),
            PageQuestion::Route(call, block) => format!("/api/route?{}&block={block}", call.address()),
            PageQuestion::Cost(call, None) => format!("/api/cost?{}", call.address()),
            PageQuestion::Cost(call, Some(machine)) => {
                format!("/api/cost?{}&machine={}", call.address(), encoded(machine))
            }
            PageQuestion::Check(call) => format!("/api/check?{}", call.address()),
            PageQuestion::Prove(call) => format!("/api/prove?{}", call.address()),
            PageQuestion::Proof(job) => format!("/api/proof?job={job}"),
            PageQuestion::Trace => "/api/trace".into(),
            PageQuestion::Placement => "/api/placement".into(),
        }
    }
}

impl ExploredCall {
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
        Ok(ExploredCall {
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
            parts.push(format!("nodes={}", encoded(&in_words(&self.nodes))));
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

/// Places of ranks as [`places`] reads them.
fn in_words(nodes: &[Vec<usize>]) -> String {
    let place = |path: &Vec<usize>| path.iter().map(usize::to_string).collect::<Vec<_>>().join(".");
    nodes.iter().map(place).collect::<Vec<_>>().join(",")
}

/// The longest places that an address can have beside the rest of it.
const LONGEST_PLACES: usize = 48 << 10;

/// The places that a file names, as they are written in an address.
pub(super) fn placement(text: &str) -> Result<Value, Refusal> {
    let paths = placing::paths(text);
    let (p, nodes) = (paths.len(), in_words(&paths));
    let wrong = |reason: String| Err(Refusal::Question { name: "placement", reason });
    if p == 0 {
        return wrong("the file names no node; it has a line for each rank, with the name of its node".into());
    }
    if encoded(&nodes).len() > LONGEST_PLACES {
        return wrong(format!("{p} ranks are too many for the address of a page; give fewer, or ppn"));
    }
    Ok(json!({ "p": p, "nodes": nodes }))
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
            assert_eq!(PageQuestion::read(path, rest).expect("is right").address(), address);
        }
    }

    #[test]
    fn a_file_places_ranks_as_on_the_command_line() {
        let placed = placement("fast 0\nslow 0\n# a comment\n\nfast 1\n").expect("is right");
        assert_eq!(placed, json!({ "p": 3, "nodes": "0.1,2.1,0.3" }));
        let query = format!("p=3&nodes={}", placed["nodes"].as_str().expect("a text"));
        let read = ExploredCall::read(&Parts::new(&query)).expect("is read");
        assert_eq!(read.nodes, placing::paths("fast 0\nslow 0\nfast 1"));
        assert!(placement("# nothing\n").expect_err("is empty").to_string().contains("names no node"));
        let many: String = (0..20_000).map(|rank| format!("node{rank}\n")).collect();
        assert!(placement(&many).expect_err("is long").to_string().contains("20000 ranks"));
        let most: String = (0..1024).map(|rank| format!("node{} {}\n", rank / 16, rank % 16)).collect();
        assert!(placement(&most).is_ok());
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
            let refused = PageQuestion::read(path, query).expect_err(query);
            assert!(refused.to_string().contains(words), "{refused}");
        }
        let call = |query: &str| ExploredCall::read(&Parts::new(query)).expect("is read").placement().map(|_| ());
        assert!(call("p=4&ppn=0").is_err() && call("p=4&placement=cyclic").is_err() && call("p=4&ppn=9").is_ok());
    }
}
