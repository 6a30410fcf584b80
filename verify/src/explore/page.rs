//! The page: its files, which are part of the program, and the page as one file with the answers for one call.

use super::ask::{ExploredCall, PageQuestion};
use super::http::Response;
use super::{Explorer, Refusal};
use serde_json::Value;
use std::collections::BTreeMap;

const INDEX: &str = include_str!("page/index.html");
const STYLE: &str = include_str!("page/style.css");

/// The scripts, in the order in which they are read.
const SCRIPTS: [(&str, &str); 8] = [
    ("state.js", include_str!("page/state.js")),
    ("ask.js", include_str!("page/ask.js")),
    ("draw.js", include_str!("page/draw.js")),
    ("picture.js", include_str!("page/picture.js")),
    ("facts.js", include_str!("page/facts.js")),
    ("editor.js", include_str!("page/editor.js")),
    ("compare.js", include_str!("page/compare.js")),
    ("main.js", include_str!("page/main.js")),
];

/// A file of the page.
pub fn asset(path: &str) -> Option<Response> {
    let found = |kind, body: &str| Some(Response { status: 200, kind, body: body.into() });
    match path.strip_prefix('/')? {
        "" => found("text/html", &index()),
        "style.css" => found("text/css", STYLE),
        name => {
            let (_, script) = SCRIPTS.iter().find(|(known, _)| *known == name)?;
            found("text/javascript", script)
        }
    }
}

fn index() -> String {
    let scripts: Vec<String> = SCRIPTS.iter().map(|(name, _)| format!("<script src=\"{name}\"></script>")).collect();
    INDEX
        .replace("<!-- style -->", "<link rel=\"stylesheet\" href=\"style.css\">")
        .replace("<!-- scripts -->", &scripts.join("\n"))
}

/// Up to this many slots, each can be looked at in the file.
const MOST_SLOTS: usize = 1024;

/// Up to this many ranks, each can be looked at in the file.
const MOST_RANKS: usize = 64;

/// The page as one file, with the answers to all questions about one call, and about fewer ranks if that is cheap.
pub fn whole(explorer: &Explorer, call: &ExploredCall) -> Result<String, Refusal> {
    let mut answers = BTreeMap::new();
    add_call(explorer, call, &mut answers)?;
    if call.p <= 16 && call.nodes.is_empty() {
        for p in 1..call.p {
            // A p outside the domain is simply not there.
            let _ = add_call(explorer, &ExploredCall { p, ..call.clone() }, &mut answers);
        }
    }
    let mut catalogue = explorer.answer(&PageQuestion::Catalogue, None)?;
    if let Some(all) = catalogue["collectives"].as_array_mut() {
        all.retain(|one| one["name"] == call.collective.as_str());
    }
    answers.insert(PageQuestion::Catalogue.address(), catalogue);
    let data = serde_json::json!({ "call": call.address(), "answers": answers });
    // Nothing in the data may end the script.
    let data = data.to_string().replace('<', "\\u003c");
    let mut scripts = format!("<script>const EMBEDDED = {data};</script>\n");
    for (_, script) in SCRIPTS {
        scripts += &format!("<script>\n{script}</script>\n");
    }
    Ok(INDEX.replace("<!-- style -->", &format!("<style>\n{STYLE}</style>")).replace("<!-- scripts -->", &scripts))
}

/// Adds the answers about one call.
fn add_call(explorer: &Explorer, call: &ExploredCall, answers: &mut BTreeMap<String, Value>) -> Result<(), Refusal> {
    let mut add = |question: PageQuestion| -> Result<Value, Refusal> {
        let answer = explorer.answer(&question, None)?;
        answers.insert(question.address(), answer.clone());
        Ok(answer)
    };
    let view = add(PageQuestion::View(call.clone()))?;
    add(PageQuestion::Cost(call.clone(), None))?;
    if view["mode"] != "full" {
        add(PageQuestion::Rank(call.clone(), 0))?;
        return Ok(());
    }
    let steps = view["steps"].as_array().map_or(0, Vec::len);
    for step in 0..=steps {
        add(PageQuestion::Step(call.clone(), step))?;
    }
    for rank in 0..call.p.min(MOST_RANKS) {
        add(PageQuestion::Rank(call.clone(), rank))?;
    }
    let rows = view["rows"]["count"].as_u64().unwrap_or(0) as usize;
    if call.p * rows <= MOST_SLOTS {
        for (rank, row) in (0..call.p).flat_map(|rank| (0..rows).map(move |row| (rank, row))) {
            add(PageQuestion::Cell(call.clone(), rank, row))?;
        }
        if view["rows"]["meaning"] == "destinations" {
            for block in 0..call.p * call.p {
                add(PageQuestion::Route(call.clone(), block))?;
            }
        }
    }
    Ok(())
}
