//! Parameters of a collective, from `--set name=value`.

use crate::error::Error;
use roundel::choice::alltoalls::{AlltoallAlgorithm, Network, choose_radix};
use roundel_spec::Arguments;
use roundel_spec::check::arguments::least_inner;
use roundel_spec::schedule::{Domain, Schedule};
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::str::FromStr;

/// One `--set name=value`, or `--set name=value,value` for a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The parameter.
    pub name: String,
    /// Its values; one for a number.
    pub values: Vec<i64>,
}

impl FromStr for Assignment {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = || Error::Assignment { text: text.into() };
        let (name, values) = named(text).ok_or_else(wrong)?;
        if values.contains("..") {
            return Err(Error::OneValue { text: text.into(), name: name.into() });
        }
        let values = match values.trim() {
            "" => Vec::new(),
            values => {
                values.split(',').map(|value| value.trim().parse().map_err(|_| wrong())).collect::<Result<_, _>>()?
            }
        };
        Ok(Assignment { name: name.into(), values })
    }
}

/// A name and what stands behind its `=`.
fn named(text: &str) -> Option<(&str, &str)> {
    let (name, values) = text.split_once('=')?;
    Some((name.trim(), values)).filter(|(name, _)| !name.is_empty())
}

/// A value for every parameter of a collective.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params {
    /// The values, in the order of the declaration.
    pub args: Arguments,
    /// The numbers that were not given and were taken from the bottom of their domains.
    pub defaulted: Vec<String>,
    names: (Vec<String>, Vec<String>),
}

impl Params {
    /// Finds a value for every parameter of `schedule`; `name` is what users call the collective.
    pub fn resolve(name: &str, schedule: &Schedule, assignments: &[Assignment]) -> Result<Self, Error> {
        reject_strangers(name, schedule, assignments)?;
        let given = |parameter: &str| assignments.iter().find(|a| a.name == parameter).map(|a| a.values.as_slice());
        let mut params = Params::empty(schedule);
        for number in &schedule.numbers {
            let parameter = &number.var.name;
            let value = match given(parameter) {
                Some(&[value]) => value,
                Some(values) => {
                    let (found, example) = (values.len(), number.domain.lo);
                    return Err(Error::NotOneNumber { parameter: parameter.clone(), found, example });
                }
                None => {
                    params.defaulted.push(parameter.clone());
                    number.domain.lo
                }
            };
            params.args.numbers.push(inside(parameter, &number.domain, value)?);
        }
        for list in &schedule.lists {
            let parameter = &list.var.name;
            let values = given(parameter).ok_or_else(|| Error::ListNeeded {
                name: name.into(),
                parameter: parameter.clone(),
                domain: list.domain.to_string(),
                example: format!("{},{}", list.domain.lo, list.domain.lo),
            })?;
            let values = values.iter().map(|&value| inside(parameter, &list.domain, value));
            params.args.lists.push(values.collect::<Result<_, _>>()?);
        }
        Ok(params)
    }

    /// Chooses the radix of an all-to-all, if none was given: the fastest on a usual network, by the model. Returns
    /// whether it did.
    pub fn choose_radix(&mut self, name: &str, p: usize, bytes: usize) -> bool {
        let algorithm = match name {
            "alltoall/modified-bruck" => AlltoallAlgorithm::ModifiedBruck,
            "alltoall/k-bruck" => AlltoallAlgorithm::KBruck,
            _ => return false,
        };
        let choice = choose_radix(algorithm, p as i64, bytes as i64, &Network::default());
        let at = self.names.0.iter().position(|name| name == "radix");
        if let (Some(at), Some(radix)) = (at, choice.ok().and_then(|choice| choice.radix))
            && self.defaulted.iter().any(|name| name == "radix")
        {
            self.args.numbers[at] = radix;
            return true;
        }
        false
    }

    /// The parameters of a point of a check.
    pub fn of(schedule: &Schedule, args: &Arguments) -> Self {
        Params { args: args.clone(), ..Params::empty(schedule) }
    }

    fn empty(schedule: &Schedule) -> Self {
        let numbers = schedule.numbers.iter().map(|number| number.var.name.clone()).collect();
        let lists = schedule.lists.iter().map(|list| list.var.name.clone()).collect();
        Params {
            args: Arguments { inner: least_inner(schedule), ..Arguments::default() },
            defaulted: Vec::new(),
            names: (numbers, lists),
        }
    }

    /// Names and values, for people.
    pub fn named(&self) -> Vec<(String, String)> {
        let numbers = self.names.0.iter().cloned().zip(self.args.numbers.iter().map(i64::to_string));
        let lists = self.names.1.iter().cloned().zip(self.args.lists.iter().map(|list| format!("{list:?}")));
        numbers.chain(lists).collect()
    }
}

impl Serialize for Params {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in self.names.0.iter().zip(&self.args.numbers) {
            map.serialize_entry(name, value)?;
        }
        for (name, list) in self.names.1.iter().zip(&self.args.lists) {
            map.serialize_entry(name, list)?;
        }
        map.end()
    }
}

/// The names of all parameters with their domains, for people.
pub fn domains(schedule: &Schedule) -> Vec<String> {
    let numbers = schedule.numbers.iter().map(|number| format!("{} in {}", number.var.name, number.domain));
    let lists = schedule.lists.iter().map(|list| format!("{}: list of {}", list.var.name, list.domain));
    numbers.chain(lists).collect()
}

fn reject_strangers(name: &str, schedule: &Schedule, assignments: &[Assignment]) -> Result<(), Error> {
    for (i, assignment) in assignments.iter().enumerate() {
        let parameter = assignment.name.clone();
        if !names(schedule).any(|known| *known == parameter) {
            return Err(stranger(name, schedule, parameter));
        }
        if assignments[..i].iter().any(|earlier| earlier.name == parameter) {
            return Err(Error::SetTwice { parameter });
        }
    }
    Ok(())
}

/// What to say of a parameter that a collective does not have.
pub(crate) fn stranger(name: &str, schedule: &Schedule, parameter: String) -> Error {
    let known = match domains(schedule) {
        none if none.is_empty() => "it has no parameters, leave out `--set`".into(),
        some => format!("its parameters are {}", some.join("; ")),
    };
    Error::NoSuchParameter { name: name.into(), parameter, known }
}

fn inside(parameter: &str, domain: &Domain, value: i64) -> Result<i64, Error> {
    if domain.contains(value) {
        return Ok(value);
    }
    Err(Error::OutsideParameter { parameter: parameter.into(), domain: domain.to_string(), value })
}

/// The names of all parameters.
pub(crate) fn names(schedule: &Schedule) -> impl Iterator<Item = &String> {
    let numbers = schedule.numbers.iter().map(|number| &number.var.name);
    numbers.chain(schedule.lists.iter().map(|list| &list.var.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use roundel_spec::expr::{ListVar, Var};
    use roundel_spec::schedule::{ListParameter, Number};

    /// A schedule with a number `radix: 2..=9` and a list `ports: list(1..)`.
    fn schedule() -> Schedule {
        let mut schedule = (crate::catalogue::find("allgather/ring").expect("in the catalogue").schedule)();
        let var = Var { name: "radix".into(), slot: schedule.slots };
        schedule.numbers.push(Number { var, domain: Domain { lo: 2, hi: Some(9) } });
        let var = ListVar { name: "ports".into(), slot: 0 };
        schedule.lists.push(ListParameter { var, domain: Domain { lo: 1, hi: None } });
        schedule
    }

    fn resolve(texts: &[&str]) -> Result<Params, Error> {
        let assignments: Vec<Assignment> = texts.iter().map(|text| text.parse()).collect::<Result<_, _>>()?;
        Params::resolve("some", &schedule(), &assignments)
    }

    #[test]
    fn values_are_found_for_all_parameters() {
        let params = resolve(&["ports=1,2", "radix=3"]).expect("fits");
        assert_eq!(params.args, Arguments { numbers: vec![3], lists: vec![vec![1, 2]], inner: vec![] });
        assert_eq!(serde_json::to_string(&params).ok().as_deref(), Some(r#"{"radix":3,"ports":[1,2]}"#));
        assert!(params.defaulted.is_empty());
        let params = resolve(&["ports="]).expect("fits");
        assert_eq!(params.args, Arguments { numbers: vec![2], lists: vec![vec![]], inner: vec![] });
        assert_eq!(params.defaulted, ["radix"]);
        assert_eq!(params.named(), [("radix".into(), "2".into()), ("ports".into(), "[]".into())]);
    }

    #[test]
    fn what_does_not_fit_is_said() {
        let says = |texts: &[&str], words: &str| {
            let message = resolve(texts).expect_err(words).to_string();
            assert!(message.contains(words), "{message}");
        };
        says(&[], "needs a list `ports` of numbers in 1..: pass it with `--set ports=1,1`");
        says(&["ports=1", "radix=10"], "must lie in 2..=9, but 10 was given");
        says(&["ports=1,0"], "must lie in 1.., but 0 was given");
        says(&["ports=1", "radix="], "one number, but 0 were given");
        says(&["port=1"], "its parameters are radix in 2..=9; ports: list of 1..");
        says(&["ports=1", "ports=2"], "set twice");
    }

    #[test]
    fn assignments() {
        let parse = |text: &str| text.parse::<Assignment>().map(|a| (a.name, a.values)).ok();
        assert_eq!(parse("radix=3"), Some(("radix".into(), vec![3])));
        assert_eq!(parse("ports=1, 2"), Some(("ports".into(), vec![1, 2])));
        assert_eq!(parse("ports="), Some(("ports".into(), vec![])));
        assert_eq!(parse("radix=-3"), Some(("radix".into(), vec![-3])));
        for wrong in ["radix", "=3", "radix=three", "ports=1,,2", "ports=1,", "radix=99999999999999999999"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
