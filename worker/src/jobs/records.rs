use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use quillgate::parameters::ParameterGroup as _;
use quillgate::text::MAX_SAFE_INTEGER;
use quillgate::{Call, Cursor, JobPageSize};
use serde::{Deserialize, Serialize};

use crate::http::gateway_rule::GatewayRule;
use crate::http::problem::Problem;
use crate::jobs::resource::Resource;

const MAX_SUMMARY_LENGTH: usize = 120;
pub const MAX_TEXT_LENGTH: usize = 200;

/// In bytes. The runtime limits a database to 10 GB. The last fifth is reserved for summaries and
/// states.
const MAX_BYTES_FOR_WHOLE: u64 = 8_000_000_000;

pub const fn has_room_for_whole(bytes: u64) -> bool {
    bytes <= MAX_BYTES_FOR_WHOLE
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum KeepPrompts {
    /// See [`summarize_prompt`].
    FirstLine,
    /// As long as the database has room.
    #[default]
    Whole,
}

impl KeepPrompts {
    pub const fn name(self) -> &'static str {
        match self {
            Self::FirstLine => "first-line",
            Self::Whole => "whole",
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct JobFilter {
    /// Such as `completed`.
    pub state: Option<String>,
    /// The subject of the caller that created the job.
    pub author: Option<String>,
    /// Compared with the first 4,096 characters of the prompt, ignoring case and other variants:
    /// see `jobs/store/search.rs`.
    pub text: Option<String>,
}

impl JobFilter {
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

#[derive(Debug, Clone, Deserialize, Serialize)]
pub struct JobQuery {
    /// Isolates of the previous release do not send it during a rollout.
    #[serde(default)]
    pub resource: Resource,
    pub filter: JobFilter,
    pub limit: u64,
    /// The last job of the previous page.
    pub before: Option<Position>,
}

impl JobQuery {
    pub fn read(call: &Call, resource: Resource) -> Result<Self, Problem> {
        let limit = Option::<JobPageSize>::read(call)?.unwrap_or(JobPageSize::DEFAULT);
        let before = Option::<Cursor>::read(call)?.map(|cursor| decode_cursor(cursor.as_str()));
        Ok(Self {
            resource,
            filter: JobFilter::read(call)?,
            limit: limit.get(),
            before: before.transpose()?.map(Position::limit),
        })
    }
}

/// Returns the first line that is not blank, shortened and without control characters.
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
pub struct Position {
    /// In milliseconds.
    pub created: u64,
    /// Orders jobs of the same millisecond.
    pub row: u64,
}

impl Position {
    /// The largest numbers that JavaScript represents exactly.
    pub const NEWEST: Self = Self {
        created: MAX_SAFE_INTEGER,
        row: MAX_SAFE_INTEGER,
    };

    pub fn limit(self) -> Self {
        Self {
            created: self.created.min(Self::NEWEST.created),
            row: self.row.min(Self::NEWEST.row),
        }
    }
}

/// Cursors are opaque to callers.
pub fn encode_cursor(position: &Position) -> String {
    URL_SAFE_NO_PAD.encode(format!("{}.{}", position.created, position.row))
}

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
