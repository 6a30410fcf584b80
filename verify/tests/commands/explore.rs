//! `roundel explore`: its answers against `roundel show` and the definition of the collectives, bad requests, and the
//! page in a browser.
//!
//! Tests that need a browser say so and pass where there is none; with `ROUNDEL_REQUIRE` set they fail there.

use crate::browser::{Browser, END, HOME, LEFT, RIGHT, request};
use roundel_verify::explore::ask::PageQuestion;
use roundel_verify::explore::server::Server;
use roundel_verify::explore::{Explorer, page};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// A server in this process; returns its port.
fn serve(file: Option<&Path>) -> u16 {
    let server = Server::new(Explorer::new(file).unwrap(), 0).unwrap();
    let port = server.port();
    std::thread::spawn(move || server.serve());
    port
}

fn get(port: u16, address: &str) -> (u16, Value) {
    let (status, body) = request(port, &format!("GET {address} HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n"), b"");
    (status, serde_json::from_str(&body).unwrap_or(Value::Null))
}

fn post(port: u16, address: &str, text: &str) -> (u16, Value) {
    let head = format!(
        "POST {address} HTTP/1.1\r\nHost: localhost:{port}\r\nOrigin: http://localhost:{port}\r\n\
         Content-Length: {}\r\n\r\n",
        text.len()
    );
    let (status, body) = request(port, &head, text.as_bytes());
    (status, serde_json::from_str(&body).unwrap_or(Value::Null))
}

fn answer(explorer: &Explorer, path: &str, query: &str) -> Value {
    explorer.answer(&PageQuestion::read(path, query).unwrap(), None).unwrap()
}

/// Bytes of base64, by the definition.
fn bytes(text: &str) -> Vec<u8> {
    let digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bits: Vec<bool> = text
        .chars()
        .filter_map(|letter| digits.find(letter))
        .flat_map(|digit| (0..6).rev().map(move |bit| digit >> bit & 1 == 1))
        .collect();
    bits.chunks_exact(8).map(|byte| byte.iter().fold(0, |all, &bit| all << 1 | u8::from(bit))).collect()
}

fn numbers(value: &Value) -> Vec<usize> {
    value.as_array().unwrap().iter().map(|number| number.as_u64().unwrap() as usize).collect()
}

/// The messages are those of `roundel show`, and what ranks hold follows from them.
#[test]
fn gathers_fill_as_their_messages_say() {
    let explorer = Explorer::new(None).unwrap();
    for (name, p, more) in [
        ("allgather/sparbit", 12, "&ppn=4"),
        ("allgather/ring", 5, ""),
        ("allgather/locality-bruck", 12, "&ppn=4&placement=cyclic"),
        ("broadcast/binomial", 7, "&set=root%3D3"),
        ("gather/binomial", 9, "&set=root%3D2"),
    ] {
        let query = format!("collective={name}&p={p}{more}");
        let view = answer(&explorer, "/api/view", &query);
        let mut show = Command::new(env!("CARGO_BIN_EXE_roundel"));
        show.args(["show", name, "--json", "-p", &p.to_string()]);
        for option in more.split('&').filter(|option| !option.is_empty()) {
            let (name, value) = option.split_once('=').unwrap();
            show.args([format!("--{name}"), value.replace("%3D", "=")]);
        }
        let shown: Value = serde_json::from_slice(&show.output().unwrap().stdout).unwrap();
        let rounds = shown["rounds"].as_array().unwrap();
        assert_eq!(view["steps"].as_array().unwrap().len(), rounds.len(), "{name}");
        let rows = view["rows"]["count"].as_u64().unwrap() as usize;
        let full = |byte: &u8| byte >> 4 == 15;
        let start = answer(&explorer, "/api/step", &format!("{query}&step=0"));
        let mut held: Vec<bool> = bytes(start["slots"].as_str().unwrap()).iter().map(full).collect();
        assert_eq!(held.len(), p * rows);
        for (number, round) in rounds.iter().enumerate() {
            let step = answer(&explorer, "/api/step", &format!("{query}&step={}", number + 1));
            let before = held.clone();
            let (mut sent, mut told) = (BTreeSet::new(), BTreeSet::new());
            for message in round["messages"].as_array().unwrap() {
                let (from, to) = (message["from"].as_u64().unwrap(), message["to"].as_u64().unwrap() as usize);
                let blocks = numbers(&message["blocks"]);
                sent.insert((from, to, blocks.len(), message["nonlocal"].as_bool().unwrap()));
                blocks.iter().for_each(|block| held[to * rows + block] = true);
            }
            for message in step["messages"].as_array().unwrap() {
                let blocks = message[2].as_u64().unwrap() as usize;
                told.insert((
                    message[0].as_u64().unwrap(),
                    message[1].as_u64().unwrap() as usize,
                    blocks,
                    message[3] == 1,
                ));
            }
            assert_eq!(told, sent, "{name}, round {number}");
            let slots = bytes(step["slots"].as_str().unwrap());
            for (i, byte) in slots.iter().enumerate() {
                assert_eq!(full(byte), held[i], "{name}, round {number}, slot {i}");
                assert_eq!(byte & 1 == 1, held[i] && !before[i], "{name}, round {number}, slot {i} is new");
            }
        }
    }
}

/// At the end every slot has what the definition of the collective says.
#[test]
fn reductions_and_alltoalls_end_complete() {
    let explorer = Explorer::new(None).unwrap();
    let levels = |query: &str, step: usize| -> Vec<u8> {
        let step = answer(&explorer, "/api/step", &format!("{query}&step={step}"));
        bytes(step["slots"].as_str().unwrap()).iter().map(|byte| byte >> 4).collect()
    };
    for query in ["collective=allreduce/ring&p=6", "collective=allreduce/recursive-doubling&p=8"] {
        let view = answer(&explorer, "/api/view", query);
        let steps = view["steps"].as_array().unwrap().len();
        let each = view["rows"]["each"].as_u64().unwrap() as usize;
        let rows = view["rows"]["count"].as_u64().unwrap() as usize;
        // The first line has the result; others may have anything.
        for (at, level) in levels(query, steps).iter().enumerate() {
            assert!(at % rows >= each || *level == 15, "{query}, slot {at}");
        }
        assert!(levels(query, 0).iter().any(|&level| level < 15));
        let cell = answer(&explorer, "/api/cell", &format!("{query}&rank=2&row=0"));
        let last = cell["values"].as_array().unwrap().last().unwrap().clone();
        let p = view["p"].as_u64().unwrap() as usize;
        assert_eq!(numbers(&last["contributors"]), (0..p).collect::<Vec<_>>());
        let mut leaves = leaves(&last["tree"]);
        leaves.sort_unstable();
        assert_eq!(leaves, (0..p).collect::<Vec<_>>(), "every rank is in the tree once");
    }
    let query = "collective=alltoall/k-bruck&p=6&set=radix%3D2";
    let steps = answer(&explorer, "/api/view", query)["steps"].as_array().unwrap().len();
    for (at, level) in levels(query, steps).iter().enumerate() {
        assert_eq!(*level, if at / 6 == at % 6 { 15 } else { 0 }, "rank {} for {}", at / 6, at % 6);
    }
    let route = answer(&explorer, "/api/route", &format!("{query}&block={}", 6 + 4));
    let hops = route["hops"].as_array().unwrap();
    assert_eq!((&route["source"], &route["destination"]), (&json!(1), &json!(4)));
    assert_eq!((&hops[0]["from"], &hops[hops.len() - 1]["to"]), (&json!(1), &json!(4)));
    assert!(hops.windows(2).all(|pair| pair[0]["to"] == pair[1]["from"]));
}

fn leaves(tree: &Value) -> Vec<usize> {
    match tree {
        Value::Array(parts) => parts.iter().flat_map(leaves).collect(),
        leaf => vec![leaf.as_u64().unwrap() as usize],
    }
}

#[test]
fn every_entry_of_the_catalogue_can_be_looked_at() {
    let explorer = Explorer::new(None).unwrap();
    let catalogue = explorer.answer(&PageQuestion::Catalogue, None).unwrap();
    for one in catalogue["collectives"].as_array().unwrap() {
        let lists: String = one["params"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|param| param["list"] == true)
            .map(|param| format!("&set={}%3D1%2C1%2C1", param["name"].as_str().unwrap()))
            .collect();
        let query = format!("collective={}&p=8&ppn=4{lists}", one["name"].as_str().unwrap());
        let view = answer(&explorer, "/api/view", &query);
        assert_eq!(view["verdict"]["state"], "right", "{query}");
        assert!(!view["proof"]["range"].is_null(), "{query}");
        let text: Vec<u16> = one["text"].as_str().unwrap().encode_utf16().collect();
        let last = answer(&explorer, "/api/step", &format!("{query}&step=1"));
        for message in last["messages"].as_array().unwrap() {
            for site in message[4].as_array().unwrap() {
                let place = numbers(&view["clauses"][site.to_string()]);
                let clause = String::from_utf16(&text[place[0]..place[1]]).unwrap();
                let begins =
                    ["send", "recv", "exchange", "within", "to", "from", "with", "when", "for", "node", "all"];
                assert!(begins.iter().any(|word| clause.starts_with(word)), "{query}: {clause}");
            }
        }
        let rank = answer(&explorer, "/api/rank", &format!("{query}&rank=3"));
        for bound in rank["bounds"].as_array().unwrap() {
            let (used, value) = (bound["used"].as_array().unwrap().last().unwrap(), &bound["value"]);
            assert!(value.is_null() || used.as_i64() <= value.as_i64(), "{query}: {bound}");
        }
    }
}

/// A wrong declaration for tests: `n = p` lets the last round send too much.
fn wrong_bruck() -> String {
    let text = roundel::algorithms::find("allgather/bruck").unwrap().source;
    assert!(text.contains("n = min(D, p - D)"));
    text.replace("n = min(D, p - D)", "n = min(D, p)")
}

#[test]
fn edited_text_is_checked_and_its_counterexample_is_drawn() {
    let port = serve(None);
    let (status, found) = post(port, "/api/check?collective=allgather/bruck&p=8", &wrong_bruck());
    assert_eq!((status, &found["state"], &found["case"]["p"]), (200, &json!("wrong"), &json!(3)));
    let text = wrong_bruck();
    let units: Vec<u16> = text.encode_utf16().collect();
    let place = [&found["errors"][0]["start"], &found["errors"][0]["end"]].map(|at| at.as_u64().unwrap() as usize);
    assert!(String::from_utf16(&units[place[0]..place[1]]).unwrap().contains("rank + D + k"));
    let (_, view) = post(port, "/api/view?collective=allgather/bruck&p=3&contract=1", &text);
    let verdict = &view["verdict"];
    assert_eq!(
        (&verdict["state"], &verdict["step"], &verdict["slots"]),
        (&json!("wrong"), &json!(2), &json!([[0, 0]]))
    );
    let (_, right) = post(port, "/api/check?collective=allgather/bruck&p=8", &text.replace("min(D, p)\n", ""));
    assert_eq!(right["state"], "wrong");
    let original = roundel::algorithms::find("allgather/bruck").unwrap().source;
    assert_eq!(post(port, "/api/check?collective=allgather/bruck&p=8", original).1["state"], "right");
    let (status, malformed) = post(port, "/api/check?collective=allgather/bruck&p=8", "struct ;");
    assert_eq!((status, &malformed["state"], &malformed["errors"][0]["line"]), (200, &json!("malformed"), &json!(1)));
    // A text whose evaluation would take forever is refused by the limits of the checker.
    let endless = original.replace("k in 0..n", "k in 0..pow(10, 12)");
    assert_eq!(post(port, "/api/check?collective=allgather/bruck&p=8", &endless).1["state"], "wrong");
}

#[test]
fn bad_requests_are_refused_and_the_server_goes_on() {
    let port = serve(None);
    let host = format!("Host: localhost:{port}");
    let status = |head: &str, body: &[u8]| request(port, &format!("{head}\r\n\r\n"), body).0;
    let long = vec![b' '; 10 << 20];
    let length = format!("Content-Length: {}", long.len());
    let (refused, body) =
        request(port, &format!("POST /api/check?p=8 HTTP/1.1\r\n{host}\r\n{length}\r\n\r\n"), &long);
    assert_eq!(refused, 413);
    assert!(serde_json::from_str::<Value>(&body).unwrap()["error"].as_str().unwrap().contains("10485760 bytes"));
    for (address, expected, words) in [
        ("/api/view?collective=sparbit&p=1000000000", 400, "1000000000"),
        ("/api/view?collective=sparbit&p=99999999999999999999", 400, "no whole number"),
        ("/api/view?collective=sparbit&p=8&set=radix%3D3", 400, "radix"),
        ("/api/view?collective=nothing&p=8", 400, "nothing"),
        ("/api/view?collective=%2Fetc%2Fpasswd&p=8", 400, "passwd"),
        ("/api/view?collective=..%2FCargo.toml&p=8", 400, "Cargo"),
        ("/api/view?collective=allgather/recursive-doubling&p=6", 400, ""),
        ("/api/step?collective=sparbit&p=5&step=99", 400, "there are 3 rounds"),
        ("/api/rank?collective=sparbit&p=5&rank=5", 400, "5"),
        ("/api/cell?collective=sparbit&p=5&rank=0&row=5", 400, "there are 5 rows"),
        ("/api/proof?job=3", 404, ""),
        ("/api/check?collective=sparbit", 405, "POST"),
        ("/api/cost?collective=sparbit&p=8&machine=L%3Dfast", 400, "fast"),
        ("/../../../etc/passwd", 404, ""),
        ("/..%2f..%2fetc/passwd", 404, ""),
        ("/style.css/../../Cargo.toml", 404, ""),
        ("//etc/passwd", 404, ""),
        ("/api/figure?collective=sparbit&p=65", 400, "65"),
    ] {
        let (found, answer) = get(port, address);
        assert_eq!(found, expected, "{address}: {answer}");
        assert!(answer["error"].as_str().unwrap().contains(words), "{address}: {answer}");
    }
    for head in [
        "GET / HTTP/1.1".to_string(),
        "GET / HTTP/1.1\r\nHost: example.org".into(),
        format!("GET / HTTP/1.1\r\nHost: evil.example:{port}"),
        format!("GET / HTTP/1.1\r\nHost: localhost:{}", port.wrapping_add(1)),
        format!("GET /api/catalogue HTTP/1.1\r\n{host}\r\nOrigin: http://evil.example"),
        format!("GET /api/catalogue HTTP/1.1\r\n{host}\r\nOrigin: null"),
        format!("GET /api/catalogue HTTP/1.1\r\n{host}\r\nSec-Fetch-Site: cross-site"),
        format!("POST /api/check HTTP/1.1\r\n{host}\r\nOrigin: http://localhost:1\r\nContent-Length: 0"),
    ] {
        assert_eq!(status(&head, b""), 403, "{head}");
    }
    assert_eq!(status(&format!("PUT / HTTP/1.1\r\n{host}"), b""), 405);
    assert_eq!(status("nonsense", b""), 400);
    assert_eq!(status(&format!("POST /api/trace HTTP/1.1\r\n{host}\r\nContent-Length: 2"), b"{}"), 400);
    // A connection that sends nothing does not keep others waiting.
    let _silent = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
    assert_eq!(get(port, "/api/catalogue").0, 200);
}

/// Any other address of this machine, such as one that other machines can reach, is not listened on.
#[test]
fn the_server_listens_on_one_address() {
    let port = serve(None);
    assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
    assert!(std::net::TcpStream::connect(("127.0.0.2", port)).is_err());
}

#[test]
fn large_calls_are_outlined() {
    let explorer = Explorer::new(None).unwrap();
    let view = answer(&explorer, "/api/view", "collective=allgather/bruck&p=100000&ppn=100");
    assert_eq!((&view["mode"], view["steps"].as_array().unwrap().len()), (&json!("outline"), 17));
    let messages = numbers(&view["steps"][0]["messages"]);
    // In the first round one rank of each node sends to another node.
    assert_eq!(messages, [99_000, 1000]);
    let rank = answer(&explorer, "/api/rank", "collective=allgather/bruck&p=100000&ppn=100&rank=7");
    assert_eq!(rank["rounds"][2]["sends"][0][0], 3);
}

#[test]
fn proofs_run_beside_the_page() {
    if roundel_verify::proving::smt::Portfolio::installed().solvers.is_empty() {
        assert!(std::env::var_os("ROUNDEL_REQUIRE").is_none(), "there is no solver");
        return;
    }
    let port = serve(None);
    let job = |text: &str| {
        let (status, started) = post(port, "/api/prove?collective=allgather/ring&p=8", text);
        assert_eq!(status, 200, "{started}");
        loop {
            let found = get(port, &format!("/api/proof?job={}", started["job"])).1;
            if !found["result"].is_null() {
                return found;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    };
    let proved = job("");
    assert_eq!(proved["result"]["state"], "proved", "{proved}");
    assert_eq!(proved["done"], proved["of"]);
    let text = roundel::algorithms::find("allgather/ring").unwrap().source;
    let wrong = job(&text.replacen("rank - s", "rank + s", 1));
    assert_eq!(wrong["result"]["state"], "wrong", "{wrong}");
}

/// The figures of a page are in the state `#…` of its address.
#[test]
fn a_browser_steps_through_rounds() {
    let Some(browser) = Browser::start() else { return };
    let port = serve(None);
    browser.open(&format!("http://localhost:{port}/#collective=allgather/sparbit&p=12&ppn=4"));
    browser.wait_for("#caption", "start, before 4 rounds");
    browser.wait("document.querySelectorAll('#picture [data-cell]').length === 144");
    browser.keys("body", RIGHT);
    browser.wait_for("#caption", "round 0 of 4: 12 messages, 12 blocks, 12 messages of these between nodes");
    assert_eq!(browser.value("document.querySelectorAll('#picture [data-message]').length"), 12);
    browser.keys("body", END);
    browser.wait_for("#caption", "round 3 of 4");
    browser.wait("location.hash.includes('step=4')");
    browser.keys("body", LEFT);
    browser.wait_for("#caption", "round 2 of 4");
    browser.keys("body", HOME);
    browser.wait_for("#caption", "start");
    browser.fill("#slider", "2");
    browser.wait_for("#caption", "round 1 of 4");
    browser.wait_for("#claims", "s = 2, D = 4");
    browser.wait_for("#bounds", "2 of 4");
    browser.wait_for("#proof", "proved for all p");
    // A message lights its clauses, a slot shows where its block comes from.
    assert_eq!(browser.value("document.querySelector('#messages').textContent"), "");
    browser.click("#messages-details summary");
    browser.wait("document.querySelectorAll('#messages button').length === 12");
    browser.click("#messages button");
    browser.wait("document.querySelectorAll('#backdrop mark').length === 2");
    let marked = browser.value("[...document.querySelectorAll('#backdrop mark')].map((mark) => mark.textContent)");
    assert!(marked[0].as_str().unwrap().contains("to = rank + d"), "{marked}");
    browser.click("#picture [data-cell='4.0']");
    browser.wait_for("#cell", "Block 0 at rank 4");
    browser.wait_for("#cell", "round 1: from rank 0 to rank 4");
    // The address has the state: opened anew, it shows the same.
    let address = browser.value("location.href");
    browser.open(address.as_str().unwrap());
    browser.wait_for("#caption", "round 1 of 4");
    browser.wait_for("#cell", "Block 0 at rank 4");
    // Controls.
    browser.fill("#collective", "allreduce/ring");
    browser.wait_for("#summary", "allreduce/ring");
    browser.fill("#p", "8");
    browser.wait_for("#summary", "p = 8, ppn = 4");
    browser.keys("body", RIGHT);
    browser.wait_for("#caption", "round 0 of 14");
    browser.click("#picture [data-cell='1.0']");
    browser.wait_for("#cell", "has the contributions of 2 ranks: 0, 1");
    browser.wait("document.querySelector('#cell svg text')");
    browser.fill("#p", "1000000000");
    browser.wait_for("#problem", "1000000000");
    browser.fill("#p", "256");
    browser.wait("document.querySelector('#picture canvas')");
    assert_eq!(browser.value("document.querySelector('#problem').hidden"), true);
    let expected = |error: &String| error.contains("400 (Bad Request)");
    let errors: Vec<String> = browser.errors().into_iter().filter(|error| !expected(error)).collect();
    assert!(errors.is_empty(), "{errors:?}");
}

/// With 1024 ranks, a step is small and is drawn with few elements, however long the machine takes.
#[test]
fn a_browser_shows_1024_ranks_with_little_data_and_few_elements() {
    let port = serve(None);
    let calls = [
        ("collective=allgather/sparbit&p=1024", "10 rounds", 1024),
        ("collective=allreduce/nap&p=1024&ppn=16", "rounds", 1024),
        ("collective=alltoall/k-bruck&p=1024&set=radix%3D2", "10 rounds", 1024),
    ];
    // The other two with `tests/run.sh --all`.
    let calls =
        if std::env::var_os("ROUNDEL_ALL").is_some_and(|value| value == "1") { &calls[..] } else { &calls[..1] };
    for &(query, _, most) in calls {
        let (status, view) = get(port, &format!("/api/view?{query}"));
        assert_eq!((status, &view["mode"]), (200, &json!("full")), "{query}");
        let steps = view["steps"].as_array().unwrap().len();
        for step in [0, 1, steps] {
            let (_, answer) = get(port, &format!("/api/step?{query}&step={step}"));
            assert!(answer["messages"].as_array().unwrap().len() <= most, "{query}, step {step}");
            // A byte for each slot, as base64, and a line for each message.
            let slots = view["rows"]["count"].as_u64().unwrap() as usize * 1024;
            let length = answer.to_string().len();
            assert!(length < slots * 4 / 3 + 64 * most + 1000, "{query}, step {step}: {length} bytes");
        }
    }
    let Some(browser) = Browser::start() else { return };
    for &(query, rounds, most) in calls {
        browser.open(&format!("http://localhost:{port}/#{query}"));
        browser.wait_for("#caption", rounds);
        browser.keys("body", RIGHT);
        browser.wait_for("#caption", "round 0 of");
        browser.wait("document.querySelector('#picture canvas')");
        let elements = browser.value("document.querySelectorAll('#picture *').length").as_u64().unwrap();
        assert!(elements < 20, "{query}: {elements} elements in the picture");
        let all = browser.value("document.querySelectorAll('*').length").as_u64().unwrap();
        assert!(all < 12 * most as u64, "{query}: {all} elements");
        // The canvas is no larger than the page.
        assert_eq!(browser.value("document.querySelector('#picture canvas').clientWidth <= innerWidth"), true);
    }
    // Larger calls are outlined.
    browser.open(&format!("http://localhost:{port}/#collective=allgather/sparbit&p=1025"));
    browser.wait_for("#caption", "start, before 11 rounds");
    // A bar for each round and level.
    browser.wait("document.querySelectorAll('#picture svg rect').length === 22");
    browser.wait_for("#bounds", "not counted for an outline");
    browser.open(&format!("http://localhost:{port}/#collective=allgather/bruck&p=2000&ppn=100&rank=7&step=3"));
    browser.wait_for("#caption", "round 2 of 11: 2,000 messages, 8,000 blocks, 80 messages of these between nodes");
    browser.wait_for("#h-claims", "What rank 7 does");
    browser.wait_for("#claims", "7 8 9 10 to 3");
    browser.wait_for("#claims", "11 12 13 14 from 11");
    browser.wait_for("#claims", "(other node)");
    assert_eq!(browser.value("document.querySelector('#messages-details').hidden"), true);
    assert!(browser.errors().is_empty(), "{:?}", browser.errors());
}

#[test]
fn a_browser_places_ranks_by_a_file() {
    let port = serve(None);
    let (status, placed) = post(port, "/api/placement", "a\nb\na\nb\nb\n");
    assert_eq!((status, &placed), (200, &json!({ "p": 5, "nodes": "0,1,0,1,1" })));
    assert_eq!(get(port, "/api/placement").0, 405);
    assert_eq!(post(port, "/api/placement", "# nobody").0, 400);
    let Some(browser) = Browser::start() else { return };
    browser.open(&format!("http://localhost:{port}/#collective=allgather/ring&p=8"));
    browser.wait_for("#caption", "start");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("places");
    std::fs::write(&path, "a\nb\na\nb\nb\n").unwrap();
    browser.keys("#placing", path.to_str().unwrap());
    browser.wait_for("#summary", "p = 5");
    browser.wait("location.hash.includes('nodes=0%2C1%2C0%2C1%2C1')");
    assert_eq!(browser.value("document.querySelector('#placement').value"), "file");
    // Another collective keeps the places, another p does not.
    browser.fill("#collective", "allgather/bruck");
    browser.wait_for("#summary", "allgather/bruck");
    browser.wait("location.hash.includes('nodes=0%2C1%2C0%2C1%2C1')");
    browser.fill("#p", "6");
    browser.wait_for("#summary", "p = 6");
    assert_eq!(browser.value("location.hash.includes('nodes')"), false);
    assert!(browser.errors().is_empty(), "{:?}", browser.errors());
}

#[test]
fn a_browser_shows_counterexamples_while_one_edits() {
    let Some(browser) = Browser::start() else { return };
    let port = serve(None);
    browser.open(&format!("http://localhost:{port}/#collective=allgather/bruck&p=8"));
    browser.wait_for("#caption", "start");
    browser.fill("#text", &wrong_bruck());
    browser.wait_for("#verdict", "writes a block twice");
    browser.wait_for("#banner", "Counterexample, p = 3");
    browser.wait_for("#caption", "round 1 of 2");
    browser.wait("document.querySelector('#backdrop mark.error').textContent.includes('rank + D + k')");
    browser.wait("document.querySelectorAll('#picture [data-cell]').length === 9");
    browser.keys("body", HOME);
    browser.wait_for("#caption", "start");
    browser.click("#jump");
    browser.wait_for("#caption", "round 1 of 2");
    browser.click("#elsewhere");
    browser.wait_for("#summary", "p = 8");
    browser.wait("location.hash.includes('text=')");
    let address = browser.value("location.href");
    browser.open(address.as_str().unwrap());
    browser.wait_for("#banner", "Counterexample, p = 3");
    browser.click("#restore");
    browser.wait("document.querySelector('#banner').hidden");
    browser.wait_for("#summary", "p = 8");
    browser.fill("#text", "struct ;");
    browser.wait_for("#verdict", "line 1");
    assert!(browser.errors().is_empty(), "{:?}", browser.errors());
}

/// The files of a ring of three, whose rank 1 does not send in round 1.
fn trace_files(folder: &Path) -> String {
    let posted = [
        (json!([[0, 1, 8], [1, 1, 8]]), json!([[0, 2, 8], [1, 2, 8]])),
        (json!([[0, 2, 8]]), json!([[0, 0, 8], [1, 0, 8]])),
        (json!([[0, 0, 8], [1, 0, 8]]), json!([[0, 1, 8], [1, 1, 8]])),
    ];
    let mut names = Vec::new();
    for (rank, (sent, received)) in posted.iter().enumerate() {
        // Rank 1 is late. Earlier versions wrote no times.
        let times = if rank == 1 { json!([1_800_000, 2_000_000]) } else { json!([1_000_000, 1_990_000]) };
        let call = |number: usize| {
            json!({ "call": { "communicator": "0.0", "request": 0, "number": number, "collective": "allgather",
                "algorithm": "allgather/ring", "arguments": { "numbers": [], "lists": [], "inner": [] },
                "blocks": { "each": 8 }, "sent": sent, "received": received } })
        };
        let mut lines = vec![
            json!({ "format": "roundel-trace", "version": 1, "rank": rank, "size": 3 }),
            json!({ "communicator": { "name": "0.0", "rank": rank, "ranks": [0, 1, 2], "nodes": [[0], [0], [1]] } }),
            call(0),
        ];
        lines[2]["call"]["time"] = times;
        // Rank 2 did not complete the second call.
        if rank < 2 {
            lines.push(call(1));
        }
        let path = folder.join(format!("run.{rank}"));
        std::fs::write(&path, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
        names.push(path.display().to_string());
    }
    names.join("\n")
}

#[test]
fn a_browser_compares_collectives_and_shows_traces() {
    let Some(browser) = Browser::start() else { return };
    let port = serve(None);
    browser.open(&format!("http://localhost:{port}/#collective=allgather/bruck&p=8&ppn=4&compare=allgather/ring"));
    browser.wait_for("#comparison", "messages, between nodes");
    let rounds = browser
        .value("[...document.querySelectorAll('#comparison tbody tr:first-child td')].map((td) => td.textContent)");
    assert_eq!(rounds, json!(["3", "7"]));
    browser.wait("document.querySelectorAll('#other [data-cell]').length === 64");
    browser.wait("document.querySelectorAll('#comparison svg path').length >= 2");
    browser.keys("body", RIGHT);
    browser.wait_for("#caption", "round 0 of 3");
    browser.wait("document.querySelectorAll('#other [data-message]').length === 8");
    let folder = tempfile::tempdir().unwrap();
    browser.fill("#compare", "");
    browser.keys("#files", &trace_files(folder.path()));
    browser.wait_for("#trace", "not as declared");
    browser.wait_for("#summary", "allgather/ring");
    browser.wait_for("#differences", "round 1, 8 bytes from rank 1 to rank 2: declared, but not sent");
    browser.wait_for("#differences", "late (*): rank 1 (800 µs) after the first rank, of 1.00 ms for the call");
    browser.wait("[...document.querySelectorAll('#picture text')].some((text) => text.textContent === '1*')");
    browser.wait_for("#caption", "round 1 of 2");
    browser.wait("document.querySelectorAll('#picture path[style*=wrong]').length > 0");
    browser.fill("#traced", "1");
    browser.wait_for("#differences", "did not complete it: ranks 2");
    browser.wait("!document.querySelector('#differences').textContent.includes('late')");
    browser.wait("[...document.querySelectorAll('#picture text')].some((text) => text.textContent === '2!')");
    assert!(browser.errors().is_empty(), "{:?}", browser.errors());
}

#[test]
fn a_page_is_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nap.html");
    let mut command = Command::new(env!("CARGO_BIN_EXE_roundel"));
    command.args(["explore", "nap", "-p", "8", "--ppn", "4", "--html"]).arg(&path);
    assert!(command.status().unwrap().success());
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(!text.contains("src=\"") && !text.contains("href=\"style"), "nothing is loaded from elsewhere");
    let Some(browser) = Browser::start() else { return };
    browser.open(&format!("file://{}", path.display()));
    browser.wait_for("#caption", "start");
    browser.wait_for("#summary", "allreduce/nap");
    browser.keys("body", END);
    browser.wait_for("#caption", "messages");
    browser.click("#picture [data-cell='3.0']");
    browser.wait_for("#cell", "has the contributions of all ranks");
    browser.fill("#p", "4");
    browser.wait_for("#summary", "p = 4");
    browser.fill("#p", "9");
    browser.wait_for("#problem", "run `roundel explore`");
    assert_eq!(browser.value("document.querySelector('#prove').disabled"), true);
    assert!(browser.errors().is_empty(), "{:?}", browser.errors());
}

/// However tall the picture is, its caption and legend are on the same sheet.
#[test]
fn a_browser_prints_a_figure_on_one_sheet() {
    let Some(browser) = Browser::start() else { return };
    let port = serve(None);
    // In a narrow window, what is below the picture would be on a second sheet.
    browser.resize(800, 600);
    for (query, drawn) in [
        ("collective=allreduce/ring&p=64&ppn=8&step=3", "#picture svg"),
        ("collective=alltoall/k-bruck&p=256&ppn=16&set=radix%3D2&step=3", "#picture canvas"),
    ] {
        browser.open(&format!("http://localhost:{port}/#{query}"));
        browser.wait(&format!("document.querySelector('{drawn}')"));
        browser.wait_for("#caption", "round 2");
        assert_eq!(browser.printed_sheets(), 1, "{query}");
    }
}

#[test]
fn a_browser_shows_the_way_of_a_block() {
    let Some(browser) = Browser::start() else { return };
    let port = serve(None);
    let query = "collective=alltoall/k-bruck&p=8&ppn=4&set=radix%3D2&step=3";
    browser.open(&format!("http://localhost:{port}/#{query}"));
    browser.wait_for("#caption", "round 2 of 3");
    browser.click("#picture [data-cell='6.6']");
    browser.wait_for("#cell", "Rank 6 holds 8 blocks for rank 6");
    browser.click("#cell button:nth-of-type(2)");
    // 1 to 6 is a distance of 5 = 1 + 4.
    browser.wait_for("#cell", "The way of block 1 → 6:");
    browser.wait_for("#cell", "round 0: from rank 1 to rank 2");
    browser.wait_for("#cell", "round 2: from rank 2 to rank 6");
    // Two arcs, each with a line and a head.
    browser.wait("document.querySelectorAll('#picture path[style*=chosen]').length === 4");
}

/// The data of a file cannot end the script that contains it.
#[test]
fn what_a_declaration_says_is_no_markup() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.rs");
    let text = roundel::algorithms::find("allgather/ring").unwrap().source;
    std::fs::write(&path, format!("// </script><script>alert(1)</script>\n{text}")).unwrap();
    let explorer = Explorer::new(Some(&path)).unwrap();
    let name = explorer.first_of_file().unwrap().to_string();
    let query = format!("collective={}&p=3", name.replace(':', "%3A"));
    let PageQuestion::View(call) = PageQuestion::read("/api/view", &query).unwrap() else { panic!("is a view") };
    let page = page::whole(&explorer, &call).unwrap();
    assert!(!page.contains("<script>alert"));
    assert_eq!(answer(&explorer, "/api/view", &query)["evaluated"], true);
}
