//! Pages of lists and their cursors.

use std::ops::Range;

use crate::api_error::ApiError;
use crate::random::SplitMix64;

/// Characters that have another meaning in a query unless encoded.
const PREFIX: &str = "+/";
const SUFFIX: &str = "=";
const OFFSET_DIGITS: usize = 8;

/// The position of a page in its list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CursorPage {
    /// The rows of the page.
    pub(crate) rows: Range<usize>,
    /// The cursor of the next page, if there is one.
    pub(crate) next: Option<String>,
    /// The cursor after the last row of the page, even if no row follows.
    pub(crate) end_cursor: Option<String>,
}

impl CursorPage {
    /// Selects a page of a list.
    ///
    /// `parse_position` returns the number of rows before a cursor, or `None` if the cursor does not
    /// belong to this list. `cursor_after` returns the cursor after a number of rows.
    pub(crate) fn page(
        list_length: usize,
        limit: usize,
        request_cursor: Option<&str>,
        parse_position: impl Fn(&str) -> Option<usize>,
        cursor_after: impl Fn(usize) -> Option<String>,
    ) -> Result<Self, ApiError> {
        let start = match request_cursor {
            None => 0,
            Some(cursor) => parse_position(cursor)
                .filter(|start| *start <= list_length)
                .ok_or_else(ApiError::unknown_cursor)?,
        };
        let end = start.saturating_add(limit).min(list_length);
        let end_cursor = cursor_after(end);
        Ok(Self {
            rows: start..end,
            next: end_cursor.clone().filter(|_| end < list_length),
            end_cursor,
        })
    }

    /// Selects a page of a list without cursors.
    pub(crate) fn without_cursor(list_length: usize, offset: usize, limit: usize) -> Self {
        let start = offset.min(list_length);
        Self {
            rows: start..start.saturating_add(limit).min(list_length),
            next: None,
            end_cursor: None,
        }
    }

    /// Selects a page of a named list, with opaque cursors.
    pub(crate) fn page_opaque(
        list: &str,
        list_length: usize,
        (limit, request_cursor): (usize, Option<&str>),
    ) -> Result<Self, ApiError> {
        let parse_position = |cursor: &str| open(list, cursor);
        let cursor_after = |rows| Some(seal(list, rows));
        Self::page(
            list_length,
            limit,
            request_cursor,
            parse_position,
            cursor_after,
        )
    }
}

/// An opaque cursor that only this list accepts.
fn seal(list: &str, rows: usize) -> String {
    let seal = SplitMix64::named(0, &format!("{list}/{rows}")).next();
    format!("{PREFIX}{rows:0OFFSET_DIGITS$x}{seal:016x}{SUFFIX}")
}

/// The number of rows before a cursor, or `None` if the cursor does not belong to this list.
fn open(list: &str, cursor: &str) -> Option<usize> {
    let digits = cursor.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
    let (rows, _) = digits.split_at_checked(OFFSET_DIGITS)?;
    let rows = usize::from_str_radix(rows, 16).ok()?;
    (seal(list, rows) == cursor).then_some(rows)
}
