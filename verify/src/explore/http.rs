//! Requests and answers of HTTP/1.1, as far as a page on the same machine needs them: one request per connection.

use super::Refusal;
use std::io::{BufRead, BufReader, Read, Write};

/// The largest head of a request. Edited declarations are in the address of the page, but not in that of a request.
const LONGEST_HEAD: u64 = 64 << 10;

/// The largest body: files of traces.
pub const LONGEST_BODY: usize = 32 << 20;

/// The largest declaration.
pub const LONGEST_TEXT: usize = 1 << 20;

/// A request.
#[derive(Clone, Debug, Default)]
pub struct HttpRequest {
    /// `GET`, `POST`, …
    pub method: String,
    /// The address without the part behind `?`.
    pub path: String,
    /// The part behind `?`.
    pub query: String,
    /// The headers; names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, as text.
    pub body: String,
}

impl HttpRequest {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Reads a request. `may_send` decides by its head whether the body is read, and how long it may be.
    pub fn read(
        stream: impl Read,
        may_send: impl Fn(&HttpRequest) -> Result<usize, Refusal>,
    ) -> Result<Self, Refusal> {
        let mut reader = BufReader::new(stream);
        let mut head = Vec::new();
        let mut limited = (&mut reader).take(LONGEST_HEAD);
        loop {
            let mut line = Vec::new();
            let read = limited.read_until(b'\n', &mut line).map_err(|_| Refusal::Malformed("it ends too early"))?;
            match line.as_slice() {
                b"\r\n" | b"\n" => break,
                _ if read == 0 || !line.ends_with(b"\n") => return Err(Refusal::Malformed("its head has no end")),
                _ => head.push(String::from_utf8_lossy(&line).trim_end().to_string()),
            }
        }
        let mut request = HttpRequest::of_head(&head)?;
        let limit = may_send(&request)?;
        let length = request.header("content-length").map_or(Ok(0), |text| text.trim().parse::<usize>());
        let length = length.map_err(|_| Refusal::Malformed("its length is no number"))?;
        if request.header("transfer-encoding").is_some() {
            return Err(Refusal::Malformed("its length is not given"));
        }
        if length > limit {
            return Err(Refusal::TooLong { found: length, limit });
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).map_err(|_| Refusal::Malformed("its body ends too early"))?;
        request.body = String::from_utf8(body).map_err(|_| Refusal::Malformed("its body is not UTF-8"))?;
        Ok(request)
    }

    fn of_head(lines: &[String]) -> Result<Self, Refusal> {
        let first = lines.first().ok_or(Refusal::Malformed("it is empty"))?;
        let parts: Vec<&str> = first.split(' ').collect();
        let [method, target, "HTTP/1.1" | "HTTP/1.0"] = parts[..] else {
            return Err(Refusal::Malformed("its first line is not `METHOD ADDRESS HTTP/1.1`"));
        };
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let header = |line: &String| {
            let (name, value) = line.split_once(':').ok_or(Refusal::Malformed("a header has no `:`"))?;
            Ok((name.to_ascii_lowercase(), value.trim().to_string()))
        };
        Ok(HttpRequest {
            method: method.into(),
            path: path.into(),
            query: query.into(),
            headers: lines[1..].iter().map(header).collect::<Result<_, Refusal>>()?,
            body: String::new(),
        })
    }
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Response {
    /// The status of HTTP.
    pub status: u16,
    /// The type of the body.
    pub kind: &'static str,
    /// The body.
    pub body: String,
}

impl Response {
    /// An answer in JSON.
    pub fn json(status: u16, value: &serde_json::Value) -> Self {
        Response { status, kind: "application/json", body: value.to_string() }
    }

    /// Writes the answer.
    pub fn write(&self, mut stream: impl Write) -> std::io::Result<()> {
        let reason = match self.status {
            200 => "OK",
            400 => "Bad Request",
            403 => "Forbidden",
            404 => "Not Found",
            405 => "Method Not Allowed",
            413 => "Content Too Large",
            500 => "Internal Server Error",
            _ => "Service Unavailable",
        };
        // Nothing of the page comes from elsewhere, and nothing else may show it.
        let head = format!(
            "HTTP/1.1 {} {reason}\r\nContent-Type: {}; charset=utf-8\r\nContent-Length: {}\r\n\
             Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n\
             Cross-Origin-Resource-Policy: same-origin\r\nReferrer-Policy: no-referrer\r\n\
             Content-Security-Policy: default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
             frame-ancestors 'none'\r\nConnection: close\r\n\r\n",
            self.status,
            self.kind,
            self.body.len()
        );
        stream.write_all(head.as_bytes())?;
        stream.write_all(self.body.as_bytes())?;
        stream.flush()
    }
}

/// Text of an address, in which `%20` and `+` stand for other characters.
///
/// ```
/// use roundel_verify::explore::http::decoded;
/// assert_eq!(decoded("a%20b+c%C3%A9%zz%"), "a b cé%zz%");
/// ```
pub fn decoded(text: &str) -> String {
    let (bytes, mut out, mut i) = (text.as_bytes(), Vec::with_capacity(text.len()), 0);
    while i < bytes.len() {
        let hex = |at: usize| bytes.get(at).and_then(|&byte| (byte as char).to_digit(16));
        match (bytes[i], hex(i + 1), hex(i + 2)) {
            (b'%', Some(high), Some(low)) => {
                out.push((16 * high + low) as u8);
                i += 2;
            }
            (b'+', ..) => out.push(b' '),
            (byte, ..) => out.push(byte),
        }
        i += 1;
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Text for an address: everything but letters, digits and `-_.*` is written as `%20` or `+`, as browsers do.
pub fn encoded(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'*' => (byte as char).to_string(),
        b' ' => "+".into(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<HttpRequest, Refusal> {
        HttpRequest::read(text.as_bytes(), |_| Ok(8))
    }

    #[test]
    fn a_request_is_read() {
        let request = read("POST /api/check?p=8 HTTP/1.1\r\nHost: localhost:1\r\nContent-Length: 3\r\n\r\nabcdef");
        let request = request.expect("is right");
        assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/api/check"));
        assert_eq!((request.query.as_str(), request.body.as_str()), ("p=8", "abc"));
        assert_eq!(request.header("host"), Some("localhost:1"));
    }

    #[test]
    fn what_is_no_request_is_refused() {
        let long = format!("GET / HTTP/1.1\r\nA: {}\r\n\r\n", "x".repeat(70_000));
        for text in [
            "",
            "\r\n\r\n",
            "GET /\r\n\r\n",
            "GET / HTTP/2\r\n\r\n",
            "GET / HTTP/1.1\r\n",
            "GET / HTTP/1.1\r\nno colon\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nab",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 1\r\n\r\n\u{0}",
            &long,
        ] {
            let refused = read(text);
            let is_right = text.contains('\u{0}');
            assert_eq!(refused.is_ok(), is_right, "{:?}", &text[..text.len().min(60)]);
        }
        let long = read("POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n123456789");
        assert!(matches!(long, Err(Refusal::TooLong { found: 9, limit: 8 })));
    }

    #[test]
    fn texts_survive_an_address() {
        for text in ["allgather/bruck", "a b+c%d&e=f", "é→∞", ""] {
            assert_eq!(decoded(&encoded(text)), text);
        }
    }
}
