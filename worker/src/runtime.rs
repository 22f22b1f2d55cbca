//! The Workers runtime: `fetch`, `WebCrypto`, SQL, D1, timers and promises.

mod context;
mod crypto;
mod d1;
mod error;
mod host;
mod schema;
pub mod sockets;
mod sql;
mod task;
#[cfg(test)]
mod tests;
mod timer;

pub use context::{Call, now};
pub use crypto::{digest_tag, encode_text, new_uuid, random_bytes, verify_signature};
pub use d1::{D1, Statement};
pub use error::{HostError, HostResult};
pub use host::{
    Message, Outgoing, StreamSettings, byte_stream, event_stream, hear, log_error, log_line,
    make_response, parse_json, random, read_body, response_headers, send, stringify_json,
};
pub use schema::migrate;
pub use sql::{Database, number, optional_number, optional_text, text};
pub use task::{SharedTask, into_promise};
pub use timer::{Wait, Wake, yield_now};
