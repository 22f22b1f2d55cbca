//! The ledger of jobs: what is kept of a prompt, and where a page of the list ends.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use quillgate::Prompt;
use serde::Serialize;

use crate::problem::Problem;

/// The most characters that are kept of a prompt's first line.
const LONGEST_LINE: usize = 120;

/// What the ledger keeps of a prompt: its first line that says something, shortened
/// and without control characters.
#[must_use]
pub fn first_line(prompt: &Prompt) -> String {
    let says = |c: char| !c.is_control() && !c.is_whitespace();
    let mut lines = prompt.as_str().lines().map(str::trim);
    let line = lines.find(|line| line.contains(says)).unwrap_or_default();
    let mut shown = line.chars().filter(|c| !c.is_control());
    let mut kept: String = shown.by_ref().take(LONGEST_LINE).collect();
    if shown.next().is_some() {
        kept.push('…');
    }
    kept
}

/// The last job of a page: the next page is what was created before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Before {
    /// When it was created, in milliseconds since the Unix epoch.
    pub created: u64,
    /// Its row, for jobs of one millisecond.
    pub row: u64,
}

/// The cursor that leads to the page after this job; callers are not to read it.
///
/// ```
/// use quillgate_worker::ledger::{self, Before};
///
/// let before = Before { created: 1_766_000_000_000, row: 7 };
/// assert_eq!(ledger::before(&ledger::cursor(&before)), Ok(before));
/// ```
#[must_use]
pub fn cursor(before: &Before) -> String {
    URL_SAFE_NO_PAD.encode(format!("{}.{}", before.created, before.row))
}

/// Reads a cursor.
///
/// # Errors
/// 400 for what [`cursor`] has not made.
pub fn before(cursor: &str) -> Result<Before, Problem> {
    let read = || {
        let text = String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()?;
        let (created, row) = text.split_once('.')?;
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let number = |text: &str| digits(text).then(|| text.parse().ok()).flatten();
        Some(Before {
            created: number(created)?,
            row: number(row)?,
        })
    };
    let detail = "cursor must be the nextCursor of a page before";
    // One way to write it: what is read back is what was given out.
    read()
        .filter(|before| self::cursor(before) == cursor)
        .ok_or_else(|| Problem::field("cursor", "cursor", detail))
}
