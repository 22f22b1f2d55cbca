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

#[cfg(test)]
mod tests {
    use super::*;

    fn cursors(request_cursor: Option<&str>, end_cursor: Option<&str>) -> CursorPage {
        CursorPage {
            rows: 0..1,
            next: None,
            request_cursor: request_cursor.map(str::to_owned),
            end_cursor: end_cursor.map(str::to_owned),
        }
    }

    fn apply(page_fault: PageFault, mut page: Value, cursors: Option<&CursorPage>) -> Value {
        page_fault.apply(&mut page, cursors);
        page
    }

    #[test]
    fn an_empty_page_continues_even_after_the_last_page() {
        let views = json!({ "totals": { "human": 1 }, "views": [1], "hasMore": false });
        assert_eq!(
            apply(PageFault::EmptyPage, views, None),
            json!({ "totals": { "human": 1 }, "views": [], "hasMore": true })
        );
        let last = cursors(Some("b"), Some("c"));
        let feedback = json!({ "feedback": [1], "nextCursor": null, "hasMore": false });
        assert_eq!(
            apply(PageFault::EmptyPage, feedback, Some(&last)),
            json!({ "feedback": [], "nextCursor": "c", "hasMore": true })
        );
        let searches = json!({ "searches": [1], "totalSearches": 3, "nextCursor": null });
        assert_eq!(
            apply(PageFault::EmptyPage, searches, Some(&last)),
            json!({ "searches": [], "totalSearches": 3, "nextCursor": "c" })
        );
    }

    #[test]
    fn the_request_cursor_is_repeated_and_the_first_page_returns_the_next_cursor() {
        let page = json!({ "feedback": [1], "nextCursor": null, "hasMore": false });
        let next = |request_cursor| {
            let cursors = cursors(request_cursor, Some("c"));
            apply(PageFault::RepeatCursor, page.clone(), Some(&cursors))["nextCursor"].clone()
        };
        assert_eq!((next(Some("b")), next(None)), (json!("b"), json!("c")));
        let views = json!({ "views": [1], "hasMore": true });
        assert_eq!(apply(PageFault::RepeatCursor, views.clone(), None), views);
    }

    #[test]
    fn has_more_is_false_despite_a_cursor() {
        let page = json!({ "feedback": [1], "nextCursor": null, "hasMore": true });
        assert_eq!(
            apply(
                PageFault::HasMoreFalse,
                page,
                Some(&cursors(None, Some("c")))
            ),
            json!({ "feedback": [1], "nextCursor": "c", "hasMore": false })
        );
        let views = json!({ "views": [1], "hasMore": true });
        assert_eq!(
            apply(PageFault::HasMoreFalse, views, None),
            json!({ "views": [1], "hasMore": false })
        );
    }

    #[test]
    fn a_response_that_is_not_a_page_is_unchanged() {
        let no_rows = cursors(None, None);
        for (response, cursors) in [
            (json!({ "error": "x", "details": [1] }), None),
            (json!({ "threadId": "x", "messages": [1] }), None),
            (json!([1]), None),
            (
                json!({ "conversations": [], "nextCursor": null, "hasMore": false }),
                Some(&no_rows),
            ),
        ] {
            for page_fault in [
                PageFault::EmptyPage,
                PageFault::RepeatCursor,
                PageFault::HasMoreFalse,
            ] {
                assert_eq!(
                    apply(page_fault, response.clone(), cursors),
                    response,
                    "{page_fault:?}"
                );
            }
        }
    }
}
