//! Changes of jobs, as Server-Sent Events (HTML Standard, section 9.2) or in response to long polls
//! (RFC 7240).
//!
//! The project's object sends each change on a WebSocket, in the format of an event stream. The
//! object closes the socket of a watched job when the job finishes or is no longer polled.

use quillgate::Millis;
use serde::Deserialize;

use crate::http::response::{GatewayResponse, HeaderFields, JSON};
use crate::jobs::job_row::find_end;

/// Interval of the comments that keep a stream open. The HTML Standard recommends 15 seconds.
pub const HEARTBEAT: Millis = Millis::from_seconds(15);
/// Comment that keeps a stream open.
pub const HEARTBEAT_TEXT: &str = ": hb\n\n";
/// Time after which a stream ends if nothing reads the stream. If a client disconnects before the
/// response, the runtime neither reads nor cancels the stream.
pub const READ_TIMEOUT: Millis = Millis::from_seconds(5);
/// First line of a stream. The line tells clients to wait 3 seconds before they reconnect.
pub const OPENING_TEXT: &str = "retry: 3000\n\n";
/// Maximum lifetime of a stream. Clients then reconnect.
pub const MAX_STREAM_LIFETIME: Millis = Millis::from_seconds(3600);
/// Maximum lifetime of a stream that was opened with a session cookie. A stream can outlive its
/// session by up to this time.
pub const MAX_SESSION_STREAM_LIFETIME: Millis = Millis::from_seconds(300);
/// Last event of the stream of an unfinished job, when the gateway stops polling the job.
pub const END_TEXT: &str = "event: end\ndata: {\"reason\":\"poll-limit\",\"detail\":\"the job has not ended in time and is no longer polled\"}\n\n";
/// Message to a watcher before the gateway polls a job that it did not create. The poll counts as a
/// read by the watcher's caller. Clients ignore the message, because the message is a comment.
pub const CHARGE_TEXT: &str = ": poll\n\n";
/// Maximum wait of a long poll, in seconds. Many proxies time out after 30 seconds.
const MAX_WAIT: u64 = 25;
/// Maximum number of digits in an event's number. JavaScript can represent all of these numbers
/// exactly.
const MAX_DIGITS: usize = 15;

/// An event of a stream: a change of a job, or of a project's list of jobs.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct StreamEvent {
    /// The event's number, counted from 1 per job or per project.
    pub id: u64,
    /// `job` with the job, `deleted` with its id, or `reset` with an empty object.
    pub name: String,
    /// The job, the deletion or the reset, as JSON on a single line.
    pub data: String,
}

impl StreamEvent {
    /// Formats the event for a stream.
    ///
    /// ```
    /// use quillgate_worker::jobs::events::StreamEvent;
    ///
    /// let event = StreamEvent { id: 3, name: "job".to_owned(), data: "{}".to_owned() };
    /// assert_eq!(event.to_text(), "id: 3\nevent: job\ndata: {}\n\n");
    /// assert_eq!(StreamEvent::from_text(&event.to_text()), Some(event));
    /// ```
    pub fn to_text(&self) -> String {
        let Self { id, name, data } = self;
        format!("id: {id}\nevent: {name}\ndata: {data}\n\n")
    }

    /// Parses the output of [`Self::to_text`]. Returns `None` for other strings.
    pub fn from_text(text: &str) -> Option<Self> {
        let (id, rest) = text.strip_prefix("id: ")?.split_once("\nevent: ")?;
        let (name, data) = rest.split_once("\ndata: ")?;
        Some(Self {
            id: parse_event_number(id)?,
            name: name.to_owned(),
            data: data.strip_suffix("\n\n")?.to_owned(),
        })
    }

    /// Whether the job has finished, so that no event follows.
    pub fn is_final(&self) -> bool {
        let job = crate::json::parse(self.data.as_bytes());
        job.is_some_and(|job| find_end(crate::json::text(&job, "status")).is_some())
    }
}

/// Maximum number of changed jobs that a resumed list stream replays. Deletions have the same
/// limit.
pub const MAX_REPLAYED: u64 = 250;

/// Counters of a project's job list. They determine whether a resumed stream can replay all changes
/// after the client's position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct ListHistory {
    /// The number of the project's latest change, counted from 1.
    pub revision: u64,
    /// The number of the latest deletion that is no longer stored, or 0.
    pub forgotten: u64,
    /// The number of jobs that changed after the client's position, counted up to [`MAX_REPLAYED`]
    /// + 1.
    pub changes: u64,
    /// The number of stored deletions after the client's position, counted up to [`MAX_REPLAYED`] +
    /// 1.
    pub deletions: u64,
}

impl ListHistory {
    /// Whether a resumed stream can replay every change after a position. If not, the stream sends
    /// `reset`, and the client reloads the list.
    pub const fn can_replay_after(&self, position: u64) -> bool {
        self.forgotten <= position
            && position <= self.revision
            && self.changes <= MAX_REPLAYED
            && self.deletions <= MAX_REPLAYED
    }
}

/// Parses an event's number, for example from `Last-Event-ID`. Returns `None` unless the string has
/// 1 to 15 digits.
pub fn parse_event_number(text: &str) -> Option<u64> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let fits = (1..=MAX_DIGITS).contains(&text.len());
    (digits && fits).then(|| text.parse().ok()).flatten()
}

/// Computes how long a stream may stay open. The stream ends when the caller's token `expires`, or
/// after [`MAX_STREAM_LIFETIME`] if that is earlier. With a session cookie, the maximum is
/// [`MAX_SESSION_STREAM_LIFETIME`].
///
/// ```
/// use quillgate::Millis;
/// use quillgate_worker::jobs::events::{MAX_SESSION_STREAM_LIFETIME, MAX_STREAM_LIFETIME, limit_stream};
///
/// assert_eq!(limit_stream(Millis(5_000), Millis(2_000), false), Millis(3_000));
/// assert_eq!(limit_stream(Millis(u64::MAX), Millis(2_000), false), MAX_STREAM_LIFETIME);
/// assert_eq!(limit_stream(Millis(u64::MAX), Millis(2_000), true), MAX_SESSION_STREAM_LIFETIME);
/// ```
pub fn limit_stream(expires: Millis, now: Millis, in_session: bool) -> Millis {
    let longest = if in_session {
        MAX_SESSION_STREAM_LIFETIME
    } else {
        MAX_STREAM_LIFETIME
    };
    expires.since(now).min(longest)
}

/// Parses the seconds in `Prefer: wait` (RFC 7240, section 4.3), capped at 25. Returns `None` if the
/// preference is absent, or if its value does not have one to six digits.
pub fn parse_preferred_wait(prefer: Option<&str>) -> Option<u64> {
    let wait: u64 = prefer?.split([',', ';']).find_map(|preference| {
        let (name, value) = preference.split_once('=')?;
        let value = value.trim();
        let value = value.strip_prefix('"').unwrap_or(value);
        let value = value.strip_suffix('"').unwrap_or(value);
        let digits = (1..=6).contains(&value.len()) && value.bytes().all(|b| b.is_ascii_digit());
        if !name.trim().eq_ignore_ascii_case("wait") || !digits {
            return None;
        }
        value.parse().ok()
    })?;
    Some(wait.min(MAX_WAIT))
}

/// A long poll. The poll ends when the job changes, when an event shows that the job has finished,
/// or when the wait elapses. `If-None-Match` contains the number of the change that the caller
/// already has. Without `If-None-Match`, the caller counts as having the current state.
#[derive(Debug)]
pub struct LongPoll {
    known: Option<u64>,
    latest: Option<StreamEvent>,
}

impl LongPoll {
    /// Creates a long poll. `if_none_match` is the request's `If-None-Match`, if any.
    pub fn new(if_none_match: Option<&str>) -> Self {
        Self {
            known: if_none_match.and_then(parse_known_state),
            latest: None,
        }
    }

    /// Processes a change of the job. Returns whether the response is ready.
    pub fn on_event(&mut self, event: StreamEvent) -> bool {
        let is_news = match &self.latest {
            None => self.known.is_some_and(|known| known != event.id),
            Some(_) => true,
        };
        let is_done = is_news || event.is_final();
        self.latest = Some(event);
        is_done
    }

    /// Returns the response, or `None` before the first event.
    pub fn to_response(&self, seconds: u64) -> Option<GatewayResponse> {
        let event = self.latest.as_ref()?;
        let headers = HeaderFields::default()
            .with("content-type", JSON)
            .with("etag", format!("\"{}\"", event.id))
            .with("preference-applied", format!("wait={seconds}"))
            .with("vary", "Origin, Prefer");
        Some(GatewayResponse {
            headers,
            body: Some(event.data.clone()),
            ..GatewayResponse::empty(200)
        })
    }
}

fn parse_known_state(if_none_match: &str) -> Option<u64> {
    let tag = if_none_match.trim();
    let tag = tag.strip_prefix("W/").unwrap_or(tag);
    parse_event_number(tag.strip_prefix('"')?.strip_suffix('"')?)
}
