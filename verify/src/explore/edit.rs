//! A declaration that is being edited: whether it is right, and the smallest case in which it is not.

use super::subject::{NamedText, utf16};
use crate::source::{Diagnostic, Source};
use roundel_spec::check::{self, Points};
use roundel_spec::violation::Case;
use roundel_spec::{Schedule, Violation};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// How long a check may take, while its author waits.
const PATIENCE: Duration = Duration::from_secs(4);

/// The largest p that is checked while its author waits.
const LARGEST: usize = 64;

/// Checks a text.
pub(super) fn check(wanted: &NamedText, text: &str) -> Value {
    let source = Source::of_text(&wanted.origin, text);
    let all = |errors: &[Diagnostic]| errors.iter().map(|error| shown(&source, error)).collect::<Vec<_>>();
    let malformed = |errors: &[Diagnostic]| json!({ "state": "malformed", "errors": all(errors) });
    let declared = match source.declarations() {
        Ok(all) => wanted.among(&source, all),
        Err(errors) => return malformed(&errors),
    };
    let declaration = match declared.map(|declared| declared.result) {
        Ok(Ok(declaration)) => declaration,
        Ok(Err(errors)) => return malformed(&errors),
        Err(error) => return json!({ "state": "malformed", "errors": [{ "message": error.to_string() }] }),
    };
    match swept(&declaration.schedule) {
        Ok(report) => report,
        Err(violation) => {
            let errors =
                source.diagnose(&declaration.error(&violation, &Points::within_limits(&declaration.schedule)));
            json!({
                "state": "wrong",
                "errors": all(&errors),
                "code": violation.code(),
                "case": case(&violation.case),
            })
        }
    }
}

/// Checks the points of the compiler's check, the smallest first, as far as time allows.
fn swept(schedule: &Schedule) -> Result<Value, Box<Violation>> {
    let (start, mut checked, mut reached) = (Instant::now(), 0usize, 0);
    let points = Points::within_limits(schedule);
    let last = points.max_p().min(LARGEST);
    for p in 1..=last {
        for point in points.at(p) {
            if start.elapsed() > PATIENCE {
                return Ok(json!({ "state": "partly", "p": reached, "of": points.max_p(), "points": checked }));
            }
            checked += usize::from(check::at_point(schedule, &point)?.is_some());
        }
        reached = p;
    }
    let state = match (checked, last == points.max_p()) {
        (0, _) => "nothing",
        (_, true) => "right",
        (_, false) => "partly",
    };
    Ok(json!({ "state": state, "p": reached, "of": points.max_p(), "points": checked }))
}

fn shown(source: &Source, error: &Diagnostic) -> Value {
    let (start, end) = utf16(source.text(), error.range.clone());
    json!({ "message": error.message, "line": error.line, "column": error.column, "start": start, "end": end })
}

/// A case as the page asks for it. Where nodes do not matter, all ranks are on one.
fn case(case: &Case) -> Value {
    let set =
        case.params.iter().map(|(name, value)| format!("{name}={}", value.trim_matches(['[', ']']).replace(' ', "")));
    let nodes = case.nodes.as_ref().map(|nodes| nodes.iter().map(usize::to_string).collect::<Vec<_>>().join(","));
    json!({ "p": case.p.max(1), "ppn": case.ppn, "nodes": nodes, "set": set.collect::<Vec<_>>() })
}
