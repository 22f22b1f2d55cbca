//! The ledger of jobs: what it keeps of a prompt, which jobs a list has, and where a page of it ends.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use quillgate::{Call, Prompt};
use serde::{Deserialize, Serialize};

use crate::http::gateway_rule::GatewayRule;
use crate::http::problem::Problem;

/// The most characters that a summary has, without the ellipsis.
const LONGEST_SUMMARY: usize = 120;
/// The most characters that a text to look for has.
pub const LONGEST_TEXT: usize = 200;

/// The most bytes that the database of a project's object may have for whole prompts to be kept: at 10 GB
/// nothing more could be written down of any job, so that a fifth is left for first lines and states.
const ROOM_FOR_WHOLE: u64 = 8_000_000_000;

/// Whether a database of so many bytes has room for whole prompts.
#[must_use]
pub const fn has_room_for_whole(bytes: u64) -> bool {
    bytes <= ROOM_FOR_WHOLE
}

/// What is kept of prompts with the record of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeepPrompts {
    /// Their first line: see [`summarize_prompt`].
    FirstLine,
    /// All of them.
    Whole,
}

impl KeepPrompts {
    /// What has this name in `KEEP_PROMPTS`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "first-line" => Some(Self::FirstLine),
            "whole" => Some(Self::Whole),
            _ => None,
        }
    }
}

/// Which jobs a list has: those that fit all that is not `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct JobFilter {
    /// Where they stand.
    pub state: Option<String>,
    /// Who created them.
    pub author: Option<String>,
    /// What their prompt holds, in upper or lower case.
    pub text: Option<String>,
}

impl JobFilter {
    /// Reads the filter of a list.
    ///
    /// # Errors
    /// 400 for a value that breaks a rule.
    pub fn read(call: &Call) -> Result<Self, Problem> {
        let text = |name| call.text(name).map(str::to_owned);
        let filter = Self {
            state: text("state"),
            author: text("author"),
            text: text("text"),
        };
        let length = filter.text.as_ref().map(|text| text.chars().count());
        if length.is_some_and(|length| length > LONGEST_TEXT) {
            let detail = "text must have 1 to 200 characters";
            return Err(Problem::field("text", GatewayRule::LongestText, detail));
        }
        Ok(filter)
    }
}

/// Shortens a prompt for the ledger: its first line that is not blank, without control
/// characters. Empty when every line is blank.
#[must_use]
pub fn summarize_prompt(prompt: &Prompt) -> String {
    let says = |c: char| !c.is_control() && !c.is_whitespace();
    let mut lines = prompt.as_str().lines().map(str::trim);
    let line = lines.find(|line| line.contains(says)).unwrap_or("");
    let mut shown = line.chars().filter(|c| !c.is_control());
    let mut kept: String = shown.by_ref().take(LONGEST_SUMMARY).collect();
    if shown.next().is_some() {
        kept.push('…');
    }
    kept
}

/// The last job of a page: the next page is what was created before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// When it was created, in milliseconds since the Unix epoch.
    pub created: u64,
    /// Its row, which orders jobs of the same millisecond.
    pub row: u64,
}

/// Writes the cursor that leads to the page after this job; to callers it is opaque.
///
/// ```
/// use quillgate_worker::jobs::ledger::{Position, decode_cursor, encode_cursor};
///
/// let last = Position { created: 1_766_000_000_000, row: 7 };
/// assert_eq!(decode_cursor(&encode_cursor(&last)), Ok(last));
/// ```
#[must_use]
pub fn encode_cursor(position: &Position) -> String {
    URL_SAFE_NO_PAD.encode(format!("{}.{}", position.created, position.row))
}

/// Reads a cursor.
///
/// # Errors
/// 400 for a text that [`encode_cursor`] did not write.
pub fn decode_cursor(cursor: &str) -> Result<Position, Problem> {
    let read = || {
        let text = String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()?;
        let (created, row) = text.split_once('.')?;
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let number = |text: &str| digits(text).then(|| text.parse().ok()).flatten();
        Some(Position {
            created: number(created)?,
            row: number(row)?,
        })
    };
    let detail = "cursor must be the nextCursor of an earlier page";
    // A cursor has one form only: the one that was given out.
    read()
        .filter(|before| encode_cursor(before) == cursor)
        .ok_or_else(|| Problem::field("cursor", GatewayRule::Cursor, detail))
}
