mod context;
mod crypto;
mod d1;
mod error;
mod host;
mod messages;
mod shared_fetch;
mod socket_messages;
pub mod sockets;
mod sql;
mod task;
#[cfg(test)]
pub(crate) mod tests;
mod timer;
#[cfg(feature = "trap-route")]
pub mod trap;

pub use context::{durable_objects, now, read_settings, to_date, to_integer, to_number, variable};
pub use crypto::{digest_tag, new_uuid, random_bytes, subtle};
pub use d1::D1;
pub use error::{HostError, HostResult};
pub use host::{
    Exchanged, exchange, log_entry, log_error, log_for_operator, log_line, make_response,
    parse_json, read_fields, read_stream, stringify_json,
};
pub use js_sys::Math::random;
pub use messages::{receive, send_back};
pub use shared_fetch::share_fetch;
pub use socket_messages::SocketMessages;
pub use sql::{Database, SqlValue, Values};
pub use task::{SharedTask, into_promise, run_until_wait};
pub use timer::{Timer, Wake, limit_time, sleep, wait, yield_now};
