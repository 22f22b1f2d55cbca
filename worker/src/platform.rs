//! What touches the runtime: the fetch handler, `fetch`, `WebCrypto`, SQL, sockets.

mod connections;
mod context;
mod crypto;
mod d1;
mod error;
mod export;
mod handler;
mod host;
mod isolate;
mod issuer_keys;
mod object;
mod pages;
mod report;
mod sql;
mod task;
#[cfg(test)]
mod tests;
mod timer;
#[cfg(feature = "trap-route")]
mod trap;
mod upstream_client;

pub use connections::{Connections, Permit};
pub use context::{Call, now};
pub use crypto::{digest_tag, encode_text, new_uuid};
pub use d1::{D1, Statement};
pub use error::{HostError, HostResult};
pub use host::{
    Outgoing, log_error, log_line, make_response, parse_json, random, send, stringify_json,
};
pub use isolate::{breaker_state, config};
pub(crate) use object::read_by_name;
pub use object::{FromValue, Members, read_named};
#[cfg(test)]
pub use pages::ReportAnswer;
pub use pages::{Page, PageRow};
pub(crate) use sql::row;
pub use sql::{Database, number, optional_number, optional_text, text};
pub use task::{SharedTask, into_promise};
pub use timer::{Wait, Wake, yield_now};
#[cfg(feature = "trap-route")]
pub use trap::trap_later;
pub use upstream_client::{Exchange, JobSnapshot, PageReply, UpstreamClient};
