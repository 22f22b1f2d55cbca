//! Changes of a job, and of all jobs of a project, as Server-Sent Events (HTML Standard, section 9.2);
//! those of a job also as the answer to a long poll (RFC 7240).
//!
//! The project's object sends each change on a WebSocket as exactly the text that an event stream
//! passes on, and closes the socket after the last one of a job.

use quillgate::{JobStatus, Millis};
use serde::Deserialize;

use crate::http::response::{GatewayResponse, HeaderFields, JSON};

/// How often a comment is sent to keep a stream open, as the HTML Standard advises.
pub const HEARTBEAT: Millis = Millis::from_seconds(15);
/// The comment that keeps a stream open.
pub const HEARTBEAT_TEXT: &str = ": hb\n\n";
/// The beginning of a stream: how long a client waits before it reconnects, in milliseconds.
pub const OPENING_TEXT: &str = "retry: 3000\n\n";
/// The longest that a stream stays open; the client then connects again.
pub const LONGEST_STREAM: Millis = Millis::from_seconds(3600);
/// The longest that it stays open in a session, which it may outlive by so much: the client's next
/// request is refused after sign-out.
pub const LONGEST_SESSION_STREAM: Millis = Millis::from_seconds(300);
/// The end of a stream whose job is no longer polled.
pub const END_TEXT: &str = "event: end\ndata: {\"reason\":\"poll-limit\",\"detail\":\"the job has not ended in time and is no longer polled\"}\n\n";
/// The message to a watcher before a poll of a job that the gateway did not create. The poll counts
/// as a read of the watcher's caller. Clients see a comment.
pub const CHARGE_TEXT: &str = ": poll\n\n";
/// The longest wait of a long poll, in seconds: proxies give up at 30.
const LONGEST_WAIT: u64 = 25;
/// The most digits that an event's number may have.
const MAX_DIGITS: usize = 15;

/// A change of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobEvent {
    /// Its number, counted from 1.
    pub seq: u64,
    /// The job as JSON, in one line.
    pub data: String,
}

impl JobEvent {
    /// The event as the text of a stream.
    ///
    /// ```
    /// use quillgate_worker::jobs::events::JobEvent;
    ///
    /// let event = JobEvent { seq: 3, data: "{}".to_owned() };
    /// assert_eq!(event.to_text(), "id: 3\nevent: job\ndata: {}\n\n");
    /// assert_eq!(JobEvent::from_text(&event.to_text()), Some(event));
    /// ```
    #[must_use]
    pub fn to_text(&self) -> String {
        write_event(self.seq, "job", &self.data)
    }

    /// Reads what [`Self::to_text`] wrote; `None` for anything else.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        let (seq, data) = text
            .strip_prefix("id: ")?
            .split_once("\nevent: job\ndata: ")?;
        Some(Self {
            seq: parse_event_number(seq)?,
            data: data.strip_suffix("\n\n")?.to_owned(),
        })
    }

    /// Whether it is the last one: the job has ended.
    #[must_use]
    pub fn is_final(&self) -> bool {
        read_status(&self.data).is_some_and(|status| status.is_terminal())
    }
}

/// A change of the list of a project's jobs.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ListEvent {
    /// Its number, counted from 1 in the project.
    pub revision: u64,
    /// `job` with the listed job, `deleted` with its id, or `reset` with an empty object.
    pub name: String,
    /// JSON, in one line.
    pub data: String,
}

impl ListEvent {
    /// The event as the text of a stream.
    ///
    /// ```
    /// use quillgate_worker::jobs::events::ListEvent;
    ///
    /// let event = ListEvent {
    ///     revision: 7,
    ///     name: "deleted".to_owned(),
    ///     data: r#"{"id":"j1"}"#.to_owned(),
    /// };
    /// assert_eq!(event.to_text(), "id: 7\nevent: deleted\ndata: {\"id\":\"j1\"}\n\n");
    /// ```
    #[must_use]
    pub fn to_text(&self) -> String {
        write_event(self.revision, &self.name, &self.data)
    }
}

/// Maximum number of changed jobs that a resumed list stream replays, and of deletions.
pub const MAX_REPLAYED: u64 = 250;

/// The changes of a list that a resumed stream can replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListHistory {
    /// The number of the latest change.
    pub revision: u64,
    /// The number of the latest deletion that is no longer stored, or 0.
    pub forgotten: u64,
    /// The number of jobs that changed after the client's position.
    pub changes: u64,
    /// The number of stored deletions after the client's position.
    pub deletions: u64,
}

impl ListHistory {
    /// Whether the history contains every change after a position. Otherwise the stream sends `reset`, and
    /// the client loads the list again.
    #[must_use]
    pub const fn is_complete_after(&self, position: u64) -> bool {
        self.forgotten <= position
            && position <= self.revision
            && self.changes <= MAX_REPLAYED
            && self.deletions <= MAX_REPLAYED
    }
}

fn write_event(number: u64, name: &str, data: &str) -> String {
    format!("id: {number}\nevent: {name}\ndata: {data}\n\n")
}

/// Reads the `status` of a job in JSON.
fn read_status(job: &str) -> Option<JobStatus> {
    let job = crate::json::parse(job.as_bytes())?;
    crate::json::text(&job, "status").map(|status| JobStatus::from(status.to_owned()))
}

/// Reads the number of an event, as in `Last-Event-ID`; `None` for anything else.
#[must_use]
pub fn parse_event_number(text: &str) -> Option<u64> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let fits = (1..=MAX_DIGITS).contains(&text.len());
    (digits && fits).then(|| text.parse().ok()).flatten()
}

/// Computes how long a stream may stay open: until the token that it was opened with `expires`, at
/// most [`LONGEST_STREAM`], or [`LONGEST_SESSION_STREAM`] where it was opened with a session's cookie.
///
/// ```
/// use quillgate::Millis;
/// use quillgate_worker::jobs::events::{LONGEST_SESSION_STREAM, LONGEST_STREAM, limit_stream};
///
/// assert_eq!(limit_stream(Millis(5_000), Millis(2_000), false), Millis(3_000));
/// assert_eq!(limit_stream(Millis(u64::MAX), Millis(2_000), false), LONGEST_STREAM);
/// assert_eq!(limit_stream(Millis(u64::MAX), Millis(2_000), true), LONGEST_SESSION_STREAM);
/// ```
#[must_use]
pub fn limit_stream(expires: Millis, now: Millis, in_session: bool) -> Millis {
    let longest = if in_session {
        LONGEST_SESSION_STREAM
    } else {
        LONGEST_STREAM
    };
    expires.since(now).min(longest)
}

/// Reads the seconds that `Prefer: wait` asks for (RFC 7240, section 4.3), at most 25.
#[must_use]
pub fn parse_preferred_wait(prefer: Option<&str>) -> Option<u64> {
    parse_wait(prefer).map(|wait| wait.min(LONGEST_WAIT))
}

/// Reads the seconds that `Prefer: wait` asks for, of at most six digits.
#[must_use]
pub fn parse_wait(prefer: Option<&str>) -> Option<u64> {
    prefer?.split([',', ';']).find_map(|preference| {
        let (name, value) = preference.split_once('=')?;
        let value = value.trim();
        let value = value.strip_prefix('"').unwrap_or(value);
        let value = value.strip_suffix('"').unwrap_or(value);
        let digits = (1..=6).contains(&value.len()) && value.bytes().all(|b| b.is_ascii_digit());
        if !name.trim().eq_ignore_ascii_case("wait") || !digits {
            return None;
        }
        value.parse().ok()
    })
}

/// A long poll. It ends once the job has changed or ended, or the time is over. `If-None-Match`
/// names the state that the caller knows already; without it that is the present one.
#[derive(Debug)]
pub struct LongPoll {
    known: Option<u64>,
    latest: Option<JobEvent>,
}

/// Whether a long poll continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PollProgress {
    /// It waits for a change.
    Waiting,
    /// It can be answered.
    Done,
}

impl LongPoll {
    /// A long poll by a caller who knows the state that `If-None-Match` names.
    #[must_use]
    pub fn new(if_none_match: Option<&str>) -> Self {
        Self {
            known: if_none_match.and_then(parse_known_state),
            latest: None,
        }
    }

    /// Handles a change of the job.
    pub fn on_event(&mut self, event: JobEvent) -> PollProgress {
        let is_news = match &self.latest {
            None => self.known.is_some_and(|known| known != event.seq),
            Some(_) => true,
        };
        let is_done = is_news || event.is_final();
        self.latest = Some(event);
        if is_done {
            PollProgress::Done
        } else {
            PollProgress::Waiting
        }
    }

    /// The answer; `None` when no state of the job has arrived.
    #[must_use]
    pub fn to_response(&self, seconds: u64) -> Option<GatewayResponse> {
        let event = self.latest.as_ref()?;
        let headers = HeaderFields::default()
            .with("content-type", JSON)
            .with("etag", format!("\"{}\"", event.seq))
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
