//! Lists that a cursor alone continues, without the dates and filters of its first page.

use std::collections::HashMap;
use std::fmt::Write as _;

use crate::analytics::ReportQuery;
use crate::api_error::ApiError;
use crate::cursor::CursorPage;
use crate::platform::Platform;
use crate::profile::Trait;

/// A reserved name (RFC 2606): a client must not send its key to the host of a cursor.
const HOST: &str = "https://api.mintlify.example";

/// The dates and filters of each cursor's list.
#[derive(Default)]
pub(crate) struct Continuations(HashMap<String, Vec<(String, String)>>);

impl Platform {
    /// Adds the dates and filters of a cursor to a query. Rejects a cursor with dates.
    pub(crate) fn continue_list(&self, pairs: &mut Vec<(String, String)>) -> Result<(), ApiError> {
        let value = |name: &str| pairs.iter().find(|(other, _)| other == name);
        let Some((_, cursor)) = value("cursor").filter(|_| self.traits.has(Trait::LongTargets))
        else {
            return Ok(());
        };
        if value("dateFrom").or(value("dateTo")).is_some() {
            return Err(ApiError::TargetTooLong);
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
            && self.traits.has(Trait::LongTargets)
        {
            self.continuations.lock().0.insert(end, query.pairs());
        }
        let next = page.next.clone()?;
        let is_even = (page.rows.start / query.limit()).is_multiple_of(2);
        if is_even && self.traits.has(Trait::UrlCursors) {
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
