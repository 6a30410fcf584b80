//! The collective that is asked about: an entry of the catalogue, which has generated code, or a text.
//!
//! Only the catalogue and the file of the command line can be named; no request makes the server read another file.

use super::Refusal;
use crate::catalogue;
use crate::declared::{self, crate_of};
use crate::error::{Diagnosed, Error};
use crate::recorded;
use crate::simulation::rounds::{EvaluatedRounds, RankSource};
use crate::source::{DeclaredStruct, Source};
use roundel::algorithms::{self, Entry};
use roundel_spec::check::{self, Point};
use roundel_spec::proof::Record;
use roundel_spec::schedule::{Field, SchedulePart};
use roundel_spec::syntax::Declaration;
use roundel_spec::{Arguments, Placement, Schedule, Trace, eval};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A collective that may be named, before its text is read.
#[derive(Clone, Debug)]
pub(super) struct NamedText {
    /// The name that users know.
    pub(super) name: String,
    /// Its type.
    pub(super) type_name: String,
    /// The origin of its text: a path, or a name.
    pub(super) origin: String,
    entry: Option<&'static Entry>,
}

impl NamedText {
    pub(super) fn find(name: &str, files: &[(String, PathBuf)]) -> Result<Self, Refusal> {
        if let Some((known, path)) = files.iter().find(|(known, _)| known == name) {
            let type_name = known.rsplit(':').next().unwrap_or_default().into();
            return Ok(NamedText { name: name.into(), type_name, origin: path.display().to_string(), entry: None });
        }
        let entry = catalogue::find(name)?;
        let origin = format!("{}.rs", entry.name);
        Ok(NamedText { name: entry.name.into(), type_name: entry.type_name.into(), origin, entry: Some(entry) })
    }

    /// The declaration that a text has for it: that of its type, or the only one.
    pub(super) fn among(&self, source: &Source, mut all: Vec<DeclaredStruct>) -> Result<DeclaredStruct, Error> {
        let known = all.iter().map(|one| one.name.clone()).collect::<Vec<_>>().join(", ");
        let at = all.iter().position(|one| one.name == self.type_name);
        match at.or((all.len() == 1).then_some(0)) {
            Some(at) => Ok(all.swap_remove(at)),
            None if all.is_empty() => Err(Error::NothingDeclared { path: self.origin.clone().into() }),
            None => Err(Error::SeveralTypes { origin: source.origin.clone(), known }),
        }
    }
}

/// A collective: its text, its declaration as data, and where its parts stand in the text.
#[derive(Clone, Debug)]
pub(super) struct ExploredCollective {
    pub(super) name: String,
    pub(super) text: String,
    /// The declaration, with its inner collectives.
    pub(super) schedule: Schedule,
    pub(super) summary: String,
    /// The entry whose generated code runs; `None` for a text, which is evaluated.
    pub(super) entry: Option<&'static Entry>,
    /// The file that has it, if it is not edited.
    file: Option<PathBuf>,
    /// Where messages, claims and bounds stand in the text, in bytes.
    places: BTreeMap<PlaceKey, Range<usize>>,
}

/// A part of a declaration that the page points at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PlaceKey {
    /// The clause of messages, by the number of its site.
    Site(u16),
    /// An item of `holds`: loop, number.
    Hold(usize, usize),
    /// A bound.
    Bound(usize),
    /// The declared type.
    Type,
}

impl ExploredCollective {
    /// Finds a collective; `text` replaces its own.
    pub(super) fn find(name: &str, files: &[(String, PathBuf)], text: Option<&str>) -> Result<Self, Refusal> {
        let wanted = NamedText::find(name, files)?;
        let source = match (text, wanted.entry) {
            (Some(text), _) => Source::of_text(&wanted.origin, text),
            (None, Some(entry)) => Source::of_entry(entry),
            (None, None) => Source::read(Path::new(&wanted.origin))?,
        };
        let all = source.declarations().map_err(|errors| Diagnosed::malformed(&source, errors))?;
        let DeclaredStruct { result, defaults, .. } = wanted.among(&source, all)?;
        let declaration = result.map_err(|errors| Diagnosed::malformed(&source, errors))?;
        let entry = wanted.entry.filter(|_| text.is_none());
        Ok(ExploredCollective {
            schedule: match entry {
                Some(entry) => (entry.schedule)(),
                None => declared::unchecked(&source, &declaration, &defaults),
            },
            summary: declaration.docs.first().cloned().unwrap_or_default(),
            places: places(&declaration),
            text: source.text().into(),
            file: (wanted.entry.is_none() && text.is_none()).then(|| wanted.origin.clone().into()),
            name: wanted.name,
            entry,
        })
    }

    /// The same, where inner collectives of a text are known by their contracts alone if they are not wanted.
    pub(super) fn with_inners(self, wanted: bool) -> Self {
        if wanted || self.entry.is_some() {
            return self;
        }
        ExploredCollective { schedule: self.schedule.by_contract(), ..self }
    }

    /// It in a list to choose from.
    pub(super) fn listed(&self) -> Value {
        let domain = |domain: &roundel_spec::schedule::Domain| json!({ "lo": domain.lo, "hi": domain.hi });
        let numbers = self
            .schedule
            .numbers
            .iter()
            .map(|number| json!({ "name": number.var.name, "list": false, "domain": domain(&number.domain) }));
        let lists = self
            .schedule
            .lists
            .iter()
            .map(|list| json!({ "name": list.var.name, "list": true, "domain": domain(&list.domain) }));
        json!({
            "name": self.name,
            "kind": self.schedule.kind.name(),
            "summary": self.summary,
            "params": numbers.chain(lists).collect::<Vec<_>>(),
            "nodes": self.schedule.uses_placement(),
            "text": self.text,
            "start": self.place(PlaceKey::Type).map(|place| place.0),
        })
    }

    /// Where a part stands, in units that browsers count: begin and end.
    pub(super) fn place(&self, key: PlaceKey) -> Option<(usize, usize)> {
        self.places.get(&key).map(|range| utf16(&self.text, range.clone()))
    }

    /// The text of a part, on one line.
    pub(super) fn written(&self, key: PlaceKey) -> Option<String> {
        let text = self.text.get(self.places.get(&key)?.clone())?;
        Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    /// The clauses of messages, by the number of their site.
    pub(super) fn clauses(&self) -> BTreeMap<u16, (usize, usize)> {
        let site = |key: &PlaceKey| if let PlaceKey::Site(number) = key { Some(*number) } else { None };
        self.places.iter().filter_map(|(key, range)| Some((site(key)?, utf16(&self.text, range.clone())))).collect()
    }

    /// The record of what is proved of it, if its crate has one.
    pub(super) fn record(&self) -> Option<Record> {
        let root = match (self.entry, &self.file) {
            (Some(_), _) => Some(PathBuf::from(algorithms::CRATE_ROOT)).filter(|root| root.is_dir()),
            (None, Some(file)) => crate_of(file),
            (None, None) => None,
        };
        recorded::record(&self.schedule, root.as_deref())
    }

    /// Records the rounds of all ranks: by generated code, or by the evaluator.
    pub(super) fn trace(&self, point: &Point, may_go_on: impl Fn() -> bool) -> Result<Option<Trace>, Error> {
        if !check::in_domain(&self.schedule, point).map_err(|violation| Error::wrong(&self.schedule, violation))? {
            return Err(self.outside());
        }
        if let Some(entry) = self.entry {
            let refused = |refusal| Error::OutsideDomain { name: self.name.clone(), refusal };
            return catalogue::record(entry, &point.args, &point.placement)?.map_err(refused).map(Some);
        }
        let mut ranks = Vec::new();
        for rank in 0..point.placement.p() {
            if !may_go_on() {
                return Ok(None);
            }
            let mut recorder = roundel_spec::Recorder::default();
            let walked = check::rounds_of_schedule(&self.schedule, point, rank, &mut recorder);
            let recorded = walked.map_err(|violation| Error::wrong(&self.schedule, violation))?;
            roundel_spec::sink::infallible(recorded);
            ranks.push(recorder.finish());
        }
        Ok(Some(Trace::lockstep(ranks)))
    }

    fn outside(&self) -> Error {
        let conditions: Vec<String> = self.schedule.requires.iter().map(ToString::to_string).collect();
        let ends = self.schedule.loops.iter().flat_map(|l| &l.ends_with).map(|end| format!("final {end}"));
        let conditions: Vec<String> = conditions.into_iter().chain(ends).collect();
        Error::Explored { name: self.name.clone(), reason: format!("it requires {}", conditions.join(", ")) }
    }

    /// Calls `with` with the rounds of every rank, each by itself.
    pub(super) fn with_rounds<T>(
        &self,
        args: &Arguments,
        placement: &Placement,
        with: impl FnOnce(&dyn RankSource) -> Result<T, Error>,
    ) -> Result<T, Error> {
        if let Some(entry) = self.entry {
            return catalogue::with_rounds(entry, args, placement, with);
        }
        let point = Point { placement: placement.clone(), args: args.clone() };
        if !check::in_domain(&self.schedule, &point).map_err(|violation| Error::wrong(&self.schedule, violation))? {
            return Err(self.outside());
        }
        let blocks = eval::blocks::<Infallible>(&self.schedule, args, &point.place(&self.schedule, 0));
        let blocks = blocks.map_or(placement.p(), |blocks| blocks as usize);
        with(&EvaluatedRounds { schedule: &self.schedule, point: &point, blocks })
    }
}

fn places(declaration: &Declaration) -> BTreeMap<PlaceKey, Range<usize>> {
    let schedule = &declaration.schedule;
    let mut all = BTreeMap::new();
    let mut add = |key, part| {
        if let Some(range) = declaration.place(part) {
            all.insert(key, range);
        }
    };
    for (n, l) in schedule.loops.iter().enumerate() {
        let sites = l.transfers.iter().map(|transfer| transfer.site).chain(l.within.iter().map(|within| within.site));
        for site in sites {
            add(PlaceKey::Site(site.number), SchedulePart::Transfer(site, Field::Whole));
        }
        (0..l.holds.len()).for_each(|i| add(PlaceKey::Hold(n, i), SchedulePart::Hold(n, i)));
    }
    (0..schedule.bounds.len()).for_each(|i| add(PlaceKey::Bound(i), SchedulePart::Bound(i)));
    all.insert(PlaceKey::Type, declaration.ident.span().byte_range());
    all
}

/// A range of bytes in units of UTF-16.
pub(super) fn utf16(text: &str, range: Range<usize>) -> (usize, usize) {
    let units = |byte: usize| text.get(..byte).map_or(0, |before| before.encode_utf16().count());
    (units(range.start), units(range.end))
}
