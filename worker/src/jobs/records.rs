//! Job records. This module summarizes prompts, and reads the filters and cursors of requests for
//! the list of jobs.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use quillgate::parameters::ParameterGroup as _;
use quillgate::text::MAX_SAFE_INTEGER;
use quillgate::{Call, Cursor, JobPageSize};
use serde::{Deserialize, Serialize};

use crate::http::gateway_rule::GatewayRule;
use crate::http::problem::Problem;

/// Maximum number of characters in a summary, without the ellipsis.
const MAX_SUMMARY_LENGTH: usize = 120;
/// Maximum number of characters in a search string.
pub const MAX_TEXT_LENGTH: usize = 200;

/// Maximum size of the database, in bytes, up to which whole prompts are stored. The runtime limits
/// a database to 10 GB. The last fifth is reserved for summaries and states.
const MAX_BYTES_FOR_WHOLE: u64 = 8_000_000_000;

/// Whether a database of this size has room for whole prompts.
pub const fn has_room_for_whole(bytes: u64) -> bool {
    bytes <= MAX_BYTES_FOR_WHOLE
}

/// The part of a prompt that a job's record stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeepPrompts {
    /// The first line: see [`summarize_prompt`].
    FirstLine,
    /// The whole prompt, as long as the database has room.
    Whole,
}

impl KeepPrompts {
    /// Parses the value of `KEEP_PROMPTS`. Returns `None` for an unknown value.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "first-line" => Some(Self::FirstLine),
            "whole" => Some(Self::Whole),
            _ => None,
        }
    }

    /// Returns the value of `KEEP_PROMPTS`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::FirstLine => "first-line",
            Self::Whole => "whole",
        }
    }
}

/// A filter for a list of jobs. Jobs must meet every condition that is not `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct JobFilter {
    /// The status of the job, such as `completed`.
    pub state: Option<String>,
    /// The subject of the caller that created the job.
    pub author: Option<String>,
    /// The search string. The first 4,096 characters of the prompt must contain it,
    /// ignoring case and other variants: see `jobs/store/search.rs`.
    pub text: Option<String>,
}

impl JobFilter {
    /// Reads the filter from a call.
    ///
    /// # Errors
    /// Returns a 400 problem if the search string has more than [`MAX_TEXT_LENGTH`] characters.
    pub fn read(call: &Call) -> Result<Self, Problem> {
        let text = |name| call.text(name).map(str::to_owned);
        let filter = Self {
            state: text("state"),
            author: text("author"),
            text: text("text"),
        };
        let length = filter.text.as_ref().map(|text| text.chars().count());
        if length.is_some_and(|length| length > MAX_TEXT_LENGTH) {
            let detail = "text must have 1 to 200 characters";
            return Err(Problem::field("text", GatewayRule::LongestText, detail));
        }
        Ok(filter)
    }
}

/// A request for a page of jobs.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub struct JobQuery {
    /// The conditions that the jobs must meet.
    pub filter: JobFilter,
    /// Maximum number of jobs on the page.
    pub limit: u64,
    /// The last job of the previous page, or `None` for the first page.
    pub before: Option<Position>,
}

impl JobQuery {
    /// Reads a call of [`quillgate::ListAgentJobs`].
    ///
    /// # Errors
    /// Returns a 400 problem for the first parameter that breaks a rule.
    pub fn read(call: &Call) -> Result<Self, Problem> {
        let limit = Option::<JobPageSize>::read(call)?.unwrap_or(JobPageSize::DEFAULT);
        let before = Option::<Cursor>::read(call)?.map(|cursor| decode_cursor(cursor.as_str()));
        Ok(Self {
            filter: JobFilter::read(call)?,
            limit: limit.get(),
            before: before.transpose()?.map(Position::limit),
        })
    }
}

/// Returns the first non-blank line of a prompt, without control characters. A line of more than
/// 120 characters is shortened and ends with an ellipsis. Returns an empty string if every line is
/// blank.
pub fn summarize_prompt(prompt: &str) -> String {
    let is_visible = |c: char| !c.is_control() && !c.is_whitespace();
    let mut lines = prompt.lines().map(str::trim);
    let line = lines.find(|line| line.contains(is_visible)).unwrap_or("");
    let mut characters = line.chars().filter(|c| !c.is_control());
    let mut summary: String = characters.by_ref().take(MAX_SUMMARY_LENGTH).collect();
    if characters.next().is_some() {
        summary.push('…');
    }
    summary
}

/// The last job of a page. The next page contains older jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
pub struct Position {
    /// When the job was created, as a Unix time in milliseconds.
    pub created: u64,
    /// The job's row, which orders jobs of the same millisecond.
    pub row: u64,
}

impl Position {
    /// A position above all jobs. Its numbers are the largest that JavaScript represents exactly.
    pub const NEWEST: Self = Self {
        created: MAX_SAFE_INTEGER,
        row: MAX_SAFE_INTEGER,
    };

    /// Caps both numbers at those of [`Self::NEWEST`].
    pub fn limit(self) -> Self {
        Self {
            created: self.created.min(Self::NEWEST.created),
            row: self.row.min(Self::NEWEST.row),
        }
    }
}

/// Encodes a cursor for the page after this job. Cursors are opaque to callers.
///
/// ```
/// use quillgate_worker::jobs::records::{Position, decode_cursor, encode_cursor};
///
/// let last = Position { created: 1_766_000_000_000, row: 7 };
/// assert_eq!(decode_cursor(&encode_cursor(&last)), Ok(last));
/// ```
pub fn encode_cursor(position: &Position) -> String {
    URL_SAFE_NO_PAD.encode(format!("{}.{}", position.created, position.row))
}

/// Decodes a cursor.
///
/// # Errors
/// Returns a 400 problem for a string that [`encode_cursor`] cannot return.
pub fn decode_cursor(cursor: &str) -> Result<Position, Problem> {
    let read = || {
        let text = String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()?;
        let (created, row) = text.split_once('.')?;
        Some(Position {
            created: created.parse().ok()?,
            row: row.parse().ok()?,
        })
    };
    let detail = "cursor must be the nextCursor of an earlier page";
    // Several strings can decode to the same position. Only the string that `encode_cursor` returns
    // is accepted.
    read()
        .filter(|before| encode_cursor(before) == cursor)
        .ok_or_else(|| Problem::field("cursor", GatewayRule::Cursor, detail))
}
