//! The server: on this machine only, a thread for each connection, and no answer to pages of other sites.
//!
//! Any site that the browser shows can send requests to this port. They carry the name of that site, in `Origin` or,
//! if it has a name that leads here, in `Host`; such requests are refused.

use super::ask::PageQuestion;
use super::http::{HttpRequest, LONGEST_BODY, LONGEST_TEXT, Response};
use super::{Explorer, Refusal, page};
use serde_json::json;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The largest number of connections at a time.
const CONNECTIONS: usize = 64;

/// The largest number of questions that are answered at a time.
const QUESTIONS: usize = 8;

/// How long a browser may take to send a request.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server that listens.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    explorer: Arc<Explorer>,
    port: u16,
}

/// Counts what is under way.
#[derive(Clone, Debug, Default)]
struct Count(Arc<AtomicUsize>);

/// One of those that are counted.
#[derive(Debug)]
struct Counted(Count);

impl Count {
    /// One more, if there are not too many.
    fn enter(&self, limit: usize) -> Option<Counted> {
        let enter = |n: usize| (n < limit).then_some(n + 1);
        self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, enter).ok().map(|_| Counted(self.clone()))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Server {
    /// Listens on a port of this machine, or on any if it is 0.
    pub fn new(explorer: Explorer, port: u16) -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let port = listener.local_addr()?.port();
        Ok(Server { listener, explorer: Arc::new(explorer), port })
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Answers requests, forever.
    pub fn serve(&self) {
        let (connections, questions) = (Count::default(), Count::default());
        for stream in self.listener.incoming() {
            let (Ok(stream), Some(one)) = (stream, connections.enter(CONNECTIONS)) else { continue };
            let site = Site { explorer: self.explorer.clone(), port: self.port, questions: questions.clone() };
            // Evaluation is recursive: expressions may be nested deeply.
            let thread = std::thread::Builder::new().stack_size(16 << 20);
            // Without a thread, the connection is closed, and the browser says so.
            let _ = thread.spawn(move || {
                site.connection(stream);
                drop(one);
            });
        }
    }
}

struct Site {
    explorer: Arc<Explorer>,
    port: u16,
    questions: Count,
}

impl Site {
    fn connection(&self, mut stream: TcpStream) {
        // A browser that does not read or write is given up; nothing else can go wrong here.
        let _ = stream.set_read_timeout(Some(PATIENCE));
        let _ = stream.set_write_timeout(Some(PATIENCE));
        let answer = HttpRequest::read(&stream, |head| self.may_send(head)).and_then(|request| self.caught(&request));
        let response =
            answer.unwrap_or_else(|why| Response::json(why.status(), &json!({ "error": why.to_string() })));
        let _ = response.write(&mut stream);
        let _ = stream.shutdown(Shutdown::Write);
        // A connection that is closed while a request is still being sent is reset, and its answer lost.
        let _ = std::io::copy(&mut stream.take(2 * LONGEST_BODY as u64), &mut std::io::sink());
    }

    /// How long the body of a request may be; pages of other sites are refused.
    fn may_send(&self, head: &HttpRequest) -> Result<usize, Refusal> {
        let foreign = Refusal::Foreign { port: self.port };
        let names = [format!("localhost:{}", self.port), format!("127.0.0.1:{}", self.port)];
        let host = head.header("host").unwrap_or_default();
        if !names.iter().any(|name| name == host) {
            return Err(foreign);
        }
        if head.header("origin").is_some_and(|origin| origin != format!("http://{host}")) {
            return Err(foreign);
        }
        // The address bar and links of this page are fine; links and pictures of other sites are not.
        let from = head.header("sec-fetch-site").unwrap_or("none");
        let opens_page = head.header("sec-fetch-mode") == Some("navigate") && head.path == "/";
        if !matches!(from, "none" | "same-origin") && !opens_page {
            return Err(foreign);
        }
        match head.method.as_str() {
            "GET" => Ok(0),
            "POST" if head.path == "/api/trace" => Ok(LONGEST_BODY),
            "POST" => Ok(LONGEST_TEXT),
            _ => Err(Refusal::Method("GET and POST")),
        }
    }

    /// Answers a request; if that fails, only this request has no answer.
    fn caught(&self, request: &HttpRequest) -> Result<Response, Refusal> {
        let answer = catch_unwind(AssertUnwindSafe(|| self.answer(request)));
        answer.unwrap_or_else(|panic| {
            let words = panic.downcast_ref::<String>().map(String::as_str);
            let words = words.or_else(|| panic.downcast_ref::<&str>().copied());
            Err(Refusal::Failed(words.unwrap_or("it does not say why").into()))
        })
    }

    fn answer(&self, request: &HttpRequest) -> Result<Response, Refusal> {
        if let Some(asset) = page::asset(&request.path) {
            return match request.method.as_str() {
                "GET" => Ok(asset),
                _ => Err(Refusal::Method("GET")),
            };
        }
        let _one = self.questions.enter(QUESTIONS).ok_or(Refusal::Busy)?;
        let text = (request.method == "POST").then_some(request.body.as_str());
        if request.path == "/api/figure" {
            let PageQuestion::View(call) = PageQuestion::read("/api/view", &request.query)? else {
                return Err(Refusal::NotFound);
            };
            let body = self.explorer.figure(&call, text)?;
            return Ok(Response { status: 200, kind: "image/svg+xml", body });
        }
        let question = PageQuestion::read(&request.path, &request.query)?;
        if question.is_post() && text.is_none() {
            return Err(Refusal::Method("POST"));
        }
        let text = text.filter(|text| !text.is_empty());
        Ok(Response::json(200, &self.explorer.answer(&question, text)?))
    }
}

/// Opens an address in the user's browser, if there is a way; otherwise the user opens it.
pub fn open(address: &str) {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let quiet = std::process::Stdio::null;
    let started = std::process::Command::new(program).arg(address).stdout(quiet()).stderr(quiet()).spawn();
    if started.is_err() {
        let _ = writeln!(std::io::stderr(), "there is no `{program}`; open the address in a browser");
    }
}
