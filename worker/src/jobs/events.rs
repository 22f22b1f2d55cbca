//! Changes of jobs, as Server-Sent Events (HTML Standard, section 9.2) or in response to long polls
//! (RFC 7240). The project's object sends each change on a WebSocket, in the format of an event
//! stream.

use quillgate::Millis;
use quillgate::text::parse_decimal;
use serde::Deserialize;

use crate::http::response::GatewayResponse;
use crate::jobs::resource::Resource;
use crate::json;

/// Interval of the comments that keep a stream open. The HTML Standard recommends 15 seconds.
pub const HEARTBEAT: Millis = Millis::from_seconds(15);
pub const HEARTBEAT_TEXT: &str = ": hb\n\n";
/// Time after which a stream ends if nothing reads the stream. If a client disconnects before the
/// response, the runtime neither reads nor cancels the stream.
pub const READ_TIMEOUT: Millis = Millis::from_seconds(5);
pub const OPENING_TEXT: &str = "retry: 3000\n\n";
pub const MAX_STREAM_LIFETIME: Millis = Millis::from_seconds(3600);
/// A stream can outlive its session by up to this time.
pub const MAX_SESSION_STREAM_LIFETIME: Millis = Millis::from_seconds(300);
/// Last event of the stream of an unfinished job.
pub const END_TEXT: &str = "event: end\ndata: {\"reason\":\"poll-limit\",\"detail\":\"the job has not ended in time and is no longer polled\"}\n\n";
/// Tells the Worker to charge the watcher's caller for a poll of a job that the gateway did not
/// create. Clients ignore the comment.
pub const CHARGE_TEXT: &str = ": poll\n\n";
/// Maximum wait of a long poll, in seconds. Many proxies time out after 30 seconds.
const MAX_WAIT: u64 = 25;
/// JavaScript represents all numbers of 15 digits exactly.
const MAX_DIGITS: usize = 15;

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct StreamEvent {
    /// Counted from 1 per job or per project.
    pub id: u64,
    /// `job`, `deployment`, `deleted` or `reset`.
    pub name: String,
    /// JSON on a single line.
    pub data: String,
}

impl StreamEvent {
    pub fn to_text(&self) -> String {
        let Self { id, name, data } = self;
        format!("id: {id}\nevent: {name}\ndata: {data}\n\n")
    }

    pub fn from_text(text: &str) -> Option<Self> {
        let (id, rest) = text.strip_prefix("id: ")?.split_once("\nevent: ")?;
        let (name, data) = rest.split_once("\ndata: ")?;
        Some(Self {
            id: parse_event_number(id)?,
            name: name.to_owned(),
            data: data.strip_suffix("\n\n")?.to_owned(),
        })
    }

    pub fn is_final(&self) -> bool {
        let resource = match &*self.name {
            "deployment" => Resource::Deployment,
            _ => Resource::Job,
        };
        let job = json::parse(self.data.as_bytes());
        job.is_some_and(|job| resource.find_end(json::text(&job, "status")).is_some())
    }
}

/// Maximum number of changes, and of deletions, that a resumed list stream replays.
pub const MAX_REPLAYED: u64 = 250;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct ListHistory {
    pub revision: u64,
    /// The latest deletion that is no longer stored, or 0.
    pub forgotten: u64,
    /// After the client's position, counted up to [`MAX_REPLAYED`] + 1.
    pub changes: u64,
    pub deletions: u64,
}

impl ListHistory {
    /// If not, the stream sends `reset`, and the client reloads the list.
    pub const fn can_replay_after(&self, position: u64) -> bool {
        self.forgotten <= position
            && position <= self.revision
            && self.changes <= MAX_REPLAYED
            && self.deletions <= MAX_REPLAYED
    }
}

pub fn parse_event_number(text: &str) -> Option<u64> {
    parse_decimal(text).filter(|_| text.len() <= MAX_DIGITS)
}

pub fn limit_stream(expires: Millis, now: Millis, in_session: bool) -> Millis {
    let longest = if in_session {
        MAX_SESSION_STREAM_LIFETIME
    } else {
        MAX_STREAM_LIFETIME
    };
    expires.since(now).min(longest)
}

/// `Prefer: wait` (RFC 7240, section 4.3), in seconds.
pub fn parse_preferred_wait(prefer: Option<&str>) -> Option<u64> {
    let wait = prefer?.split([',', ';']).find_map(|preference| {
        let (name, value) = preference.split_once('=')?;
        let value = value.trim();
        let value = value.strip_prefix('"').unwrap_or(value);
        let value = value.strip_suffix('"').unwrap_or(value);
        let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
        let is_wait = name.trim().eq_ignore_ascii_case("wait") && is_number;
        is_wait.then(|| value.parse().unwrap_or(MAX_WAIT))
    })?;
    Some(wait.min(MAX_WAIT))
}

/// A long poll. `If-None-Match` contains the number of the change that the caller already has.
/// Without it, the caller counts as having the current state.
#[derive(Debug)]
pub struct LongPoll {
    known: Option<u64>,
    latest: Option<StreamEvent>,
}

impl LongPoll {
    pub fn new(if_none_match: Option<&str>) -> Self {
        Self {
            known: if_none_match.and_then(parse_known_state),
            latest: None,
        }
    }

    /// Returns whether the response is ready.
    pub fn on_event(&mut self, event: StreamEvent) -> bool {
        let is_news = match &self.latest {
            None => self.known.is_some_and(|known| known != event.id),
            Some(_) => true,
        };
        let is_done = is_news || event.is_final();
        self.latest = Some(event);
        is_done
    }

    pub fn to_response(&self, seconds: u64) -> Option<GatewayResponse> {
        let event = self.latest.as_ref()?;
        let response = GatewayResponse::json(200, event.data.as_str())
            .with_header("etag", format!("\"{}\"", event.id))
            .with_header("preference-applied", format!("wait={seconds}"))
            .with_header("vary", "Origin, Prefer");
        Some(response)
    }
}

/// The newest state in a list of entity tags (RFC 9110, section 13.1.2). Proxies that compress
/// responses append to the tags, such as `-gzip`.
fn parse_known_state(if_none_match: &str) -> Option<u64> {
    let tags = if_none_match.split(',').map(str::trim);
    let numbers = tags.filter_map(|tag| {
        let tag = tag.strip_prefix("W/").unwrap_or(tag);
        let (number, _) = tag.strip_prefix('"')?.split_once(['"', '-'])?;
        parse_event_number(number)
    });
    numbers.max()
}
