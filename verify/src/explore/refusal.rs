//! Why a request has no answer.

use crate::error::Error;

/// A request that is not answered; each has a status of HTTP.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The head of the request is not HTTP as browsers write it.
    #[error("this is no request that a browser makes: {0}")]
    Malformed(&'static str),
    /// The request is longer than its limit.
    #[error("the text has {found} bytes, and the limit is {limit}: explore a smaller file")]
    TooLong {
        /// The number of bytes.
        found: usize,
        /// The limit.
        limit: usize,
    },
    /// A page of another site asks.
    #[error("only the page of this server is answered; open http://localhost:{port}/ in the browser")]
    Foreign {
        /// The port of this server.
        port: u16,
    },
    /// There is no such page.
    #[error("there is nothing at this address")]
    NotFound,
    /// The address takes another method.
    #[error("this address takes {0} requests only")]
    Method(&'static str),
    /// A part of the question is missing or wrong.
    #[error("`{name}` is wrong: {reason}")]
    Question {
        /// The part.
        name: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// A question about a text came without one.
    #[error("send the text of the declaration along")]
    NoText,
    /// Too many questions are being answered.
    #[error("too many questions at once; ask again when the others are answered")]
    Busy,
    /// The answer takes too long.
    #[error("{what} takes longer than {seconds} s; choose a smaller p")]
    TooSlow {
        /// What takes so long.
        what: &'static str,
        /// The limit.
        seconds: u64,
    },
    /// The answer failed; the server goes on.
    #[error("this question made the program fail: {0}. Please report it")]
    Failed(String),
    /// The question makes no sense.
    #[error("{0}")]
    Asked(#[from] Error),
}

impl Refusal {
    /// The status of HTTP.
    pub fn status(&self) -> u16 {
        match self {
            Refusal::Malformed(_) | Refusal::Question { .. } | Refusal::NoText | Refusal::Asked(_) => 400,
            Refusal::Foreign { .. } => 403,
            Refusal::NotFound => 404,
            Refusal::Method(_) => 405,
            Refusal::TooLong { .. } => 413,
            Refusal::Busy | Refusal::TooSlow { .. } => 503,
            Refusal::Failed(_) => 500,
        }
    }
}
