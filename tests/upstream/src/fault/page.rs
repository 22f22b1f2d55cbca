//! Faults that change a page of a list.

use serde_json::{Map, Value, json};

use crate::cursor::CursorPage;

const HAS_MORE: &str = "hasMore";
const NEXT_CURSOR: &str = "nextCursor";

/// How a page is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageFault {
    /// The page has no rows but has a next page.
    EmptyPage,
    /// The next cursor repeats the cursor of the request. A first page keeps its next cursor.
    RepeatCursor,
    /// `hasMore` is false although rows follow or there is a next cursor.
    HasMoreFalse,
}

impl PageFault {
    /// Changes a page. Other responses, pages without the affected fields, and pages whose list has
    /// no cursor to return stay unchanged.
    pub(super) fn apply(self, response: &mut Value, cursors: Option<&CursorPage>) {
        let Some(page) = response.as_object_mut() else {
            return;
        };
        let has_cursor = page.contains_key(NEXT_CURSOR);
        let end_cursor = cursors.and_then(|cursors| cursors.end_cursor.as_deref());
        if has_cursor && end_cursor.is_none() {
            return;
        }
        match self {
            Self::EmptyPage => {
                if has_cursor || page.contains_key(HAS_MORE) {
                    empty_rows(page);
                }
                replace(page, HAS_MORE, json!(true));
                replace(page, NEXT_CURSOR, json!(end_cursor));
            }
            Self::RepeatCursor if has_cursor => {
                let request_cursor = cursors.and_then(|cursors| cursors.request_cursor.as_deref());
                replace(page, HAS_MORE, json!(true));
                replace(page, NEXT_CURSOR, json!(request_cursor.or(end_cursor)));
            }
            Self::HasMoreFalse if page.contains_key(HAS_MORE) => {
                replace(page, HAS_MORE, json!(false));
                replace(page, NEXT_CURSOR, json!(end_cursor));
            }
            Self::RepeatCursor | Self::HasMoreFalse => {}
        }
    }
}

/// Removes the rows. They are the only array of a page.
fn empty_rows(page: &mut Map<String, Value>) {
    for rows in page.values_mut().filter_map(Value::as_array_mut) {
        rows.clear();
    }
}

/// Changes a field if the page has it.
fn replace(page: &mut Map<String, Value>, name: &str, value: Value) {
    if let Some(value_slot) = page.get_mut(name) {
        *value_slot = value;
    }
}
