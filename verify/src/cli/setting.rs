//! Ranges of parameters for checks and proofs, from `--set name=1..=64`.

use crate::cli::range;
use crate::error::Error;
use roundel_spec::check::arguments::Choices;
use roundel_spec::schedule::{Domain, Schedule};
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// The most combinations of parameters at one p.
const MOST: f64 = 1e6;

/// One `--set` of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The parameter.
    pub name: String,
    values: SettingValues,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum SettingValues {
    /// A number, or a list of one element.
    One(i64),
    /// Of a number, or of the elements of a list.
    Range(RangeInclusive<i64>),
    /// One list.
    List(Vec<i64>),
    /// The lengths of a list.
    Lengths(RangeInclusive<i64>),
}

impl FromStr for Setting {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = |reason| Error::Setting { text: text.into(), reason };
        let (name, values) = text.split_once('=').ok_or_else(|| wrong("there is no `=`"))?;
        let (name, values) = (name.trim(), values.trim());
        if name.is_empty() {
            return Err(wrong("there is no name"));
        }
        if let Some(name) = name.strip_prefix("len(").and_then(|name| name.strip_suffix(')')) {
            return Ok(Setting {
                name: name.into(),
                values: SettingValues::Lengths(range::values(values).map_err(wrong)?),
            });
        }
        let values = match values {
            "" => SettingValues::List(Vec::new()),
            list if list.contains(',') => {
                let element = |value: &str| value.trim().parse().map_err(|_| wrong("elements are whole numbers"));
                SettingValues::List(list.split(',').map(element).collect::<Result<_, _>>()?)
            }
            range => match range.parse() {
                Ok(one) => SettingValues::One(one),
                Err(_) => SettingValues::Range(range::values(range).map_err(wrong)?),
            },
        };
        Ok(Setting { name: name.into(), values })
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Setting { name, values } = self;
        let range = |values: &RangeInclusive<i64>| match values.start() == values.end() {
            true => values.start().to_string(),
            false => format!("{}..={}", values.start(), values.end()),
        };
        match values {
            SettingValues::One(value) => write!(f, "{name} = {value}"),
            SettingValues::Range(values) => write!(f, "{name} = {}", range(values)),
            SettingValues::List(list) => write!(f, "{name} = {list:?}"),
            SettingValues::Lengths(lengths) => write!(f, "len({name}) = {}", range(lengths)),
        }
    }
}

impl Setting {
    /// The place of the parameter among the numbers, or among the lists.
    fn place(&self, schedule: &Schedule) -> (Option<usize>, Option<usize>) {
        let number = schedule.numbers.iter().position(|number| number.var.name == self.name);
        (number, schedule.lists.iter().position(|list| list.var.name == self.name))
    }

    /// The values, where a single number is a range of a number or a list.
    fn values(&self, place: (Option<usize>, Option<usize>)) -> SettingValues {
        match (&self.values, place) {
            (&SettingValues::One(value), (None, Some(_))) => SettingValues::List(vec![value]),
            (&SettingValues::One(value), _) => SettingValues::Range(value..=value),
            (values, _) => values.clone(),
        }
    }

    /// Makes the largest value the limit of a check.
    fn limit(&self, schedule: &mut Schedule) -> Result<(), Error> {
        let place = self.place(schedule);
        match (&self.values(place), place) {
            (SettingValues::Range(values), (Some(n), _)) => {
                inside(&self.name, &schedule.numbers[n].domain, values)?;
                schedule.limits.numbers[n] = *values.end();
            }
            (SettingValues::Range(values), (None, Some(n))) => {
                let domain = schedule.lists[n].domain;
                inside(&self.name, &domain, values)?;
                self.begin_with(values, domain.lo)?;
                schedule.limits.lists[n].1 = *values.end();
            }
            (SettingValues::Lengths(lengths), (None, Some(n))) => {
                self.begin_with(lengths, 0)?;
                schedule.limits.lists[n].0 = *lengths.end();
            }
            (SettingValues::List(list), (None, Some(n))) => {
                let domain = &schedule.lists[n].domain;
                list.iter().try_for_each(|&value| inside(&self.name, domain, &(value..=value)))?;
            }
            (SettingValues::List(list), (number, _)) => {
                let (parameter, example) = (self.name.clone(), number.map_or(0, |n| schedule.numbers[n].domain.lo));
                return Err(Error::NotOneNumber { parameter, found: list.len(), example });
            }
            (SettingValues::Lengths(_) | SettingValues::Range(_) | SettingValues::One(_), _) => {
                return Err(Error::Setting { text: self.to_string(), reason: "a number has no length" });
            }
        }
        Ok(())
    }

    /// The choices without the values that are left out.
    fn narrow(&self, schedule: &Schedule, choices: Choices) -> Choices {
        let place = self.place(schedule);
        match (&self.values(place), place) {
            (SettingValues::Range(values), (Some(n), _)) if *values.start() > schedule.numbers[n].domain.lo => {
                choices.with_number(n, values.clone())
            }
            (SettingValues::List(list), (None, Some(n))) => choices.with_list(n, list.clone()),
            _ => choices,
        }
    }

    /// Lists are counted from the least element and the empty list on.
    fn begin_with(&self, values: &RangeInclusive<i64>, least: i64) -> Result<(), Error> {
        match *values.start() == least {
            true => Ok(()),
            false => Err(Error::Setting {
                text: self.to_string(),
                reason: "lists are checked from the empty one and the least element on, or one list alone",
            }),
        }
    }
}

/// The parameters of a check, as the command line sets them.
#[derive(Clone, Debug, Default)]
pub struct ParameterSettings {
    all: Vec<Setting>,
    choices: Option<Choices>,
}

impl ParameterSettings {
    /// Applies what is set to a schedule that has the parameters: its limits become what is checked.
    pub fn of(name: &str, schedule: &mut Schedule, settings: &[Setting]) -> Result<Self, Error> {
        let has = |setting: &&Setting| setting.place(schedule) != (None, None);
        let all: Vec<Setting> = settings.iter().filter(has).cloned().collect();
        if all.is_empty() {
            return Ok(ParameterSettings::default());
        }
        for setting in &all {
            setting.limit(schedule)?;
        }
        let mut choices = Choices::within(schedule, &schedule.limits);
        for setting in &all {
            choices = setting.narrow(schedule, choices);
        }
        let combinations = choices.estimate();
        if combinations > MOST {
            return Err(Error::TooManyCombinations { name: name.into(), combinations });
        }
        Ok(ParameterSettings { all, choices: Some(choices) })
    }

    /// The parameters, where some are set.
    pub fn choices(&self) -> Option<&Choices> {
        self.choices.as_ref()
    }

    /// The settings, for people.
    pub fn in_words(&self) -> Option<String> {
        let words: Vec<String> = self.all.iter().map(ToString::to_string).collect();
        (!words.is_empty()).then(|| words.join(", "))
    }

    /// Refuses settings that no collective has a parameter for, and two of one parameter.
    pub fn make_sense(settings: &[Setting], subjects: &[(&str, &Schedule)]) -> Result<(), Error> {
        for (i, setting) in settings.iter().enumerate() {
            let same = |other: &&Setting| {
                let lengths = |setting: &Setting| matches!(setting.values, SettingValues::Lengths(_));
                other.name == setting.name && lengths(other) == lengths(setting)
            };
            if settings[..i].iter().any(|other| same(&other)) {
                return Err(Error::SetTwice { parameter: setting.name.clone() });
            }
            let known = |schedule: &Schedule| crate::params::names(schedule).any(|name| *name == setting.name);
            if subjects.iter().any(|(_, schedule)| known(schedule)) {
                continue;
            }
            return Err(match subjects {
                &[(name, schedule)] => crate::params::stranger(name, schedule, setting.name.clone()),
                _ => Error::NobodysParameter { parameter: setting.name.clone() },
            });
        }
        Ok(())
    }
}

fn inside(parameter: &str, domain: &Domain, values: &RangeInclusive<i64>) -> Result<(), Error> {
    let outside = [*values.start(), *values.end()].into_iter().find(|&value| !domain.contains(value));
    match outside {
        Some(value) => {
            Err(Error::OutsideParameter { parameter: parameter.into(), domain: domain.to_string(), value })
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The schedule of `kind/name`.
    fn schedule(name: &str) -> Schedule {
        (crate::catalogue::find(name).expect("in the catalogue").schedule)()
    }

    /// Whether a record can state what is set: every value from the least on.
    fn is_range(schedule: &Schedule, settings: &ParameterSettings) -> bool {
        settings.choices().is_some_and(|choices| choices.limits(schedule).is_some())
    }

    fn set(name: &str, texts: &[&str]) -> Result<(Schedule, ParameterSettings), Error> {
        let mut schedule = schedule(name);
        let settings: Vec<Setting> = texts.iter().map(|text| text.parse()).collect::<Result<_, _>>()?;
        ParameterSettings::make_sense(&settings, &[(name, &schedule)])?;
        let settings = ParameterSettings::of(name, &mut schedule, &settings)?;
        Ok((schedule, settings))
    }

    #[test]
    fn ranges_become_limits() {
        let (schedule, settings) = set("allgather/k-bruck", &["radix=2..=31"]).expect("fits");
        assert_eq!(schedule.limits.numbers, [31]);
        assert!(is_range(&schedule, &settings));
        assert_eq!(settings.choices().map(Choices::count), Some(30));
        let (schedule, settings) = set("allgather/k-bruck", &["radix=7"]).expect("fits");
        assert!(!is_range(&schedule, &settings));
        assert_eq!(settings.choices().map(Choices::count), Some(1));
        assert_eq!(settings.in_words().as_deref(), Some("radix = 7"));
    }

    #[test]
    fn lists_have_elements_and_lengths() {
        let (schedule, settings) = set("allreduce/cyclic-shift", &["ports=1..=3", "len(ports)=0..=4"]).expect("fits");
        assert_eq!(schedule.limits.lists, [(4, 3)]);
        assert!(is_range(&schedule, &settings));
        let (schedule, settings) = set("allreduce/cyclic-shift", &["ports=1,2"]).expect("fits");
        assert_eq!(settings.choices().map(Choices::count), Some(1));
        assert!(!is_range(&schedule, &settings));
        let (_, settings) = set("allreduce/cyclic-shift", &["ports=3"]).expect("fits");
        assert_eq!(settings.choices().map(Choices::count), Some(1));
    }

    #[test]
    fn what_does_not_fit_is_said() {
        let says = |name: &str, texts: &[&str], words: &str| {
            let message = set(name, texts).expect_err(words).to_string();
            assert!(message.contains(words), "{message}");
        };
        says("allgather/k-bruck", &["radix=1..=4"], "must lie in 2.., but 1 was given");
        says("allgather/k-bruck", &["radix=5..=4"], "it is empty");
        says("allgather/k-bruck", &["radix=2,3"], "one number");
        says("allgather/k-bruck", &["radix"], "there is no `=`");
        says("allgather/k-bruck", &["base=2"], "no parameter `base`");
        says("allgather/k-bruck", &["radix=2", "radix=3"], "set twice");
        says("allgather/k-bruck", &["len(radix)=0..=2"], "a number has no length");
        says("allgather/k-bruck", &["radix=2..=2000000000"], "narrow `--set`");
        says("allreduce/cyclic-shift", &["ports=2..=3"], "from the empty one and the least element on");
    }
}
