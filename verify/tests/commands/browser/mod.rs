//! A browser without a window, driven through chromedriver: the few commands of WebDriver that tests of a page need.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a page may take; machines that run tests are busy.
const PATIENCE: Duration = Duration::from_secs(40);

/// Keys that are no characters.
pub(crate) const RIGHT: &str = "\u{E014}";
pub(crate) const LEFT: &str = "\u{E012}";
pub(crate) const HOME: &str = "\u{E011}";
pub(crate) const END: &str = "\u{E010}";

/// Sends a request and returns the status and the body.
pub(crate) fn request(port: u16, head: &str, body: &[u8]) -> (u16, String) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("the server listens");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("has a timeout");
    stream.write_all(head.as_bytes()).expect("is sent");
    // A server that refuses a long body may close the connection before all of it is sent.
    let _ = stream.write_all(body);
    // Chromedriver keeps connections open, so the length says where an answer ends.
    let mut reader = BufReader::new(stream);
    let (mut status, mut length) = (0, 0);
    for line in reader.by_ref().lines().map_while(Result::ok).take_while(|line| !line.is_empty()) {
        match line.split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.trim().parse().unwrap_or(0)
            }
            Some(_) => {}
            None => status = line.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0),
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("the answer is complete");
    (status, String::from_utf8_lossy(&body).into_owned())
}

/// A browser with one page. It is closed when dropped.
pub(crate) struct Browser {
    driver: Child,
    port: u16,
    session: String,
    /// Kept open, because chromedriver writes to it.
    _output: Lines<BufReader<ChildStdout>>,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts a browser. If there is none, prints that the test is skipped; but if `ROUNDEL_REQUIRE` is set, a test
    /// that does not run fails.
    pub(crate) fn start() -> Option<Self> {
        let paths = std::env::var_os("PATH").unwrap_or_default();
        let find = |name: &str| std::env::split_paths(&paths).map(|dir| dir.join(name)).find(|path| path.is_file());
        let (Some(chromium), Some(driver)) = (find("chromium"), find("chromedriver")) else {
            assert!(std::env::var_os("ROUNDEL_REQUIRE").is_none(), "chromium or chromedriver is not in PATH");
            eprintln!("skipped: this test needs chromium and chromedriver");
            return None;
        };
        Some(Self::with(&chromium, &driver))
    }

    fn with(chromium: &PathBuf, driver: &PathBuf) -> Self {
        let mut child = Command::new(driver)
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver starts");
        let stdout = child.stdout.take().expect("has an output");
        let mut output = BufReader::new(stdout).lines();
        let number = |line: String| line.split("successfully on port ").nth(1)?.trim_end_matches('.').parse().ok();
        let port: u16 = output.by_ref().map_while(Result::ok).find_map(number).expect("chromedriver says its port");
        let profile = tempfile::tempdir().expect("a folder");
        let arguments = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-dev-shm-usage",
            "--window-size=1400,1000",
            &format!("--user-data-dir={}", profile.path().display()),
        ];
        let options = json!({ "binary": chromium, "args": arguments });
        let wanted = json!({ "capabilities": { "alwaysMatch": {
            "goog:chromeOptions": options, "goog:loggingPrefs": { "browser": "ALL" } } } });
        let mut browser = Browser { driver: child, port, session: String::new(), _output: output, _profile: profile };
        let session = browser.command("POST", "/session", &wanted);
        browser.session = session["sessionId"].as_str().unwrap_or_else(|| panic!("no session: {session}")).into();
        browser
    }

    fn command(&self, method: &str, path: &str, body: &Value) -> Value {
        let body = if method == "GET" { String::new() } else { body.to_string() };
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        let (_, answer) = request(self.port, &head, body.as_bytes());
        let answer: Value = serde_json::from_str(&answer).unwrap_or_else(|_| panic!("{path}: {answer}"));
        assert!(answer["value"]["error"].is_null(), "{path}: {}", answer["value"]["message"]);
        answer["value"].clone()
    }

    fn post(&self, path: &str, body: Value) -> Value {
        self.command("POST", &format!("/session/{}{path}", self.session), &body)
    }

    /// Opens an address.
    pub(crate) fn open(&self, address: &str) {
        // An address that differs behind `#` alone would not load anything.
        self.post("/url", json!({ "url": "about:blank" }));
        self.post("/url", json!({ "url": address }));
    }

    /// The value of an expression of JavaScript.
    pub(crate) fn value(&self, expression: &str) -> Value {
        self.post("/execute/sync", json!({ "script": format!("return ({expression})"), "args": [] }))
    }

    /// Waits until an expression is true.
    pub(crate) fn wait(&self, expression: &str) {
        let start = Instant::now();
        while self.value(&format!("Boolean({expression})")) != json!(true) {
            let page = || self.value("document.body.innerText");
            assert!(start.elapsed() < PATIENCE, "never true: {expression}\n{}", page());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Waits until the text of an element contains words.
    pub(crate) fn wait_for(&self, selector: &str, words: &str) {
        self.wait(&format!("document.querySelector({}).textContent.includes({})", json!(selector), json!(words)));
    }

    fn element(&self, selector: &str) -> String {
        let found = self.post("/element", json!({ "using": "css selector", "value": selector }));
        let id = found.as_object().and_then(|found| found.values().next()).and_then(Value::as_str);
        id.unwrap_or_else(|| panic!("there is no {selector}")).to_string()
    }

    /// Types keys into an element.
    pub(crate) fn keys(&self, selector: &str, keys: &str) {
        self.post(&format!("/element/{}/value", self.element(selector)), json!({ "text": keys }));
    }

    /// Clicks at an element.
    pub(crate) fn click(&self, selector: &str) {
        self.post(&format!("/element/{}/click", self.element(selector)), json!({}));
    }

    /// Puts a text into a field, as if it were typed.
    pub(crate) fn fill(&self, selector: &str, text: &str) {
        let script = "const box = document.querySelector(arguments[0]); box.value = arguments[1]; \
                      box.dispatchEvent(new Event('input', { bubbles: true })); \
                      box.dispatchEvent(new Event('change', { bubbles: true }));";
        self.post("/execute/sync", json!({ "script": script, "args": [selector, text] }));
    }

    /// Changes the size of the window.
    pub(crate) fn resize(&self, width: usize, height: usize) {
        self.post("/window/rect", json!({ "width": width, "height": height }));
    }

    /// The number of sheets that the page is printed on.
    pub(crate) fn printed_sheets(&self) -> usize {
        let pdf = self.post("/print", json!({}));
        // The PDF comes as base64, which the browser decodes; a sheet is an object of type `Page`.
        let script = "return (atob(arguments[0]).match(/\\/Type \\/Page\\b/g) || []).length";
        let sheets = self.post("/execute/sync", json!({ "script": script, "args": [pdf] }));
        sheets.as_u64().unwrap_or_else(|| panic!("no number: {sheets}")) as usize
    }

    /// The errors that the page has reported.
    pub(crate) fn errors(&self) -> Vec<String> {
        let log = self.post("/se/log", json!({ "type": "browser" }));
        let severe = log.as_array().into_iter().flatten().filter(|entry| entry["level"] == "SEVERE");
        severe.map(|entry| entry["message"].to_string()).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Chromedriver ends the browser with the session; without it, the browser would outlive a test that fails.
        let path = format!("/session/{}", self.session);
        let head = format!("DELETE {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n");
        let _ = std::panic::catch_unwind(|| request(self.port, &head, b""));
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
