//! The ledger of jobs: what it keeps of a prompt, and where a page of the list ends.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use quillgate::Prompt;

use crate::problem::{GatewayRule, Problem};

/// The most characters that a summary has, without the ellipsis.
const LONGEST_SUMMARY: usize = 120;

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
