//! The Workers runtime: `fetch`, `WebCrypto`, SQL, D1, timers and promises.

mod context;
mod crypto;
mod d1;
mod error;
mod guard;
mod host;
mod messages;
mod schema;
pub mod sockets;
mod sql;
mod task;
#[cfg(test)]
mod tests;
mod timer;
#[cfg(feature = "trap-route")]
pub mod trap;

pub use context::{Call, now, read_settings, to_millis, variable};
pub use crypto::{digest_tag, encode_text, new_uuid, random_bytes, subtle};
pub use d1::{D1, Statement};
pub use error::{HostError, HostResult};
pub use guard::{guard, set_guard};
pub use host::{
    StreamSettings, event_stream, log_error, log_line, make_headers, make_response, parse_json,
    random, read_body, response_headers, stringify_json, wait_for_message,
};
pub use messages::{read_policy, receive, send_back};
pub use schema::migrate;
pub use sql::{Database, number, optional_number, optional_text, text};
pub use task::{SharedTask, into_promise};
pub use timer::{Wait, Wake, yield_now};
