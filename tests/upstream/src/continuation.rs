//! Lists that a cursor alone continues, without the dates and filters of its first page.

use std::collections::HashMap;
use std::fmt::Write as _;

use crate::analytics::ReportQuery;
use crate::api_error::ApiError;
use crate::cursor::CursorPage;
use crate::platform::Platform;

/// A reserved name (RFC 2606): a client must not send its key to the host of a cursor.
const HOST: &str = "https://api.mintlify.example";

/// The maximum length of a target with a cursor, in bytes. Real servers accept some thousand. A
/// target with dates and a cursor is shorter, unless the cursor is a whole URL.
const MAX_TARGET: usize = 256;

/// The dates and filters of each cursor's list.
#[derive(Default)]
pub(crate) struct Continuations(HashMap<String, Vec<(String, String)>>);

impl Platform {
    /// Adds the dates and filters of a cursor to a query without dates. Rejects long targets.
    pub(crate) fn continue_list(
        &self,
        target: &str,
        pairs: &mut Vec<(String, String)>,
    ) -> Result<(), ApiError> {
        let value = |name: &str| pairs.iter().find(|(other, _)| other == name);
        let Some((_, cursor)) = value("cursor").filter(|_| self.options.profile.is_live()) else {
            return Ok(());
        };
        let has_dates = value("dateFrom").or(value("dateTo")).is_some();
        if target.len() > MAX_TARGET {
            return Err(ApiError::TargetTooLong);
        }
        if has_dates {
            return Ok(());
        }
        let known = self.continuations.lock().0.get(cursor).cloned();
        pairs.extend(known.unwrap_or_default());
        Ok(())
    }

    /// Returns the `nextCursor` of a page of the list at `path`.
    pub(crate) fn next_cursor(
        &self,
        path: &str,
        query: &ReportQuery,
        page: &CursorPage,
    ) -> Option<String> {
        if let Some(end) = page.end_cursor.clone()
            && self.options.profile.is_live()
        {
            self.continuations.lock().0.insert(end, query.pairs());
        }
        let next = page.next.clone()?;
        let is_even = (page.rows.start / query.limit()).is_multiple_of(2);
        if is_even && self.options.profile.is_live() {
            let (cursor, limit) = (encode(&next), query.limit());
            return Some(format!("{HOST}{path}?limit={limit}&cursor={cursor}"));
        }
        Some(next)
    }
}

/// Percent-encodes a value of a query.
fn encode(value: &str) -> String {
    value.bytes().fold(String::new(), |mut text, byte| {
        if byte.is_ascii_alphanumeric() {
            text.push(byte.into());
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
        text
    })
}
