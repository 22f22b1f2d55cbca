//! Pages of lists that lie about what follows.

use serde_json::{Map, Value, json};

use crate::cursor::CursorPage;

const HAS_MORE: &str = "hasMore";
const NEXT_CURSOR: &str = "nextCursor";

/// How a page lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lie {
    /// No rows, yet it goes on.
    EmptyPage,
    /// It goes on with the cursor that it was asked for with.
    RepeatCursor,
    /// It does not go on, though something follows or it has a cursor.
    HasMoreFalse,
}

impl Lie {
    /// Changes the page; what is no page, or has nothing to lie about, stays as it is.
    pub(super) fn tell(self, answer: &mut Value, cursors: Option<&CursorPage>) {
        let Some(page) = answer.as_object_mut() else {
            return;
        };
        let has_cursor = page.contains_key(NEXT_CURSOR);
        let onward = cursors.and_then(|cursors| cursors.onward.as_deref());
        if has_cursor && onward.is_none() {
            return;
        }
        match self {
            Self::EmptyPage => {
                if has_cursor || page.contains_key(HAS_MORE) {
                    empty_rows(page);
                }
                replace(page, HAS_MORE, json!(true));
                replace(page, NEXT_CURSOR, json!(onward));
            }
            Self::RepeatCursor if has_cursor => {
                let asked = cursors.and_then(|cursors| cursors.asked.as_deref());
                replace(page, HAS_MORE, json!(true));
                replace(page, NEXT_CURSOR, json!(asked.or(onward)));
            }
            Self::HasMoreFalse if page.contains_key(HAS_MORE) => {
                replace(page, HAS_MORE, json!(false));
                replace(page, NEXT_CURSOR, json!(onward));
            }
            Self::RepeatCursor | Self::HasMoreFalse => {}
        }
    }
}

/// A page has one list, its rows.
fn empty_rows(page: &mut Map<String, Value>) {
    for rows in page.values_mut().filter_map(Value::as_array_mut) {
        rows.clear();
    }
}

/// Changes a member that the page has.
fn replace(page: &mut Map<String, Value>, name: &str, value: Value) {
    if let Some(member) = page.get_mut(name) {
        *member = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cursors(asked: Option<&str>, onward: Option<&str>) -> CursorPage {
        CursorPage {
            rows: 0..1,
            next: None,
            asked: asked.map(str::to_owned),
            onward: onward.map(str::to_owned),
        }
    }

    fn tell(lie: Lie, mut page: Value, cursors: Option<&CursorPage>) -> Value {
        lie.tell(&mut page, cursors);
        page
    }

    #[test]
    fn an_empty_page_goes_on_also_behind_the_end() {
        let views = json!({ "totals": { "human": 1 }, "views": [1], "hasMore": false });
        assert_eq!(
            tell(Lie::EmptyPage, views, None),
            json!({ "totals": { "human": 1 }, "views": [], "hasMore": true })
        );
        let last = cursors(Some("b"), Some("c"));
        let feedback = json!({ "feedback": [1], "nextCursor": null, "hasMore": false });
        assert_eq!(
            tell(Lie::EmptyPage, feedback, Some(&last)),
            json!({ "feedback": [], "nextCursor": "c", "hasMore": true })
        );
        let searches = json!({ "searches": [1], "totalSearches": 3, "nextCursor": null });
        assert_eq!(
            tell(Lie::EmptyPage, searches, Some(&last)),
            json!({ "searches": [], "totalSearches": 3, "nextCursor": "c" })
        );
    }

    #[test]
    fn a_cursor_is_repeated_or_for_the_first_page_that_of_the_next() {
        let page = json!({ "feedback": [1], "nextCursor": null, "hasMore": false });
        let next = |asked| {
            let cursors = cursors(asked, Some("c"));
            tell(Lie::RepeatCursor, page.clone(), Some(&cursors))["nextCursor"].clone()
        };
        assert_eq!((next(Some("b")), next(None)), (json!("b"), json!("c")));
        let views = json!({ "views": [1], "hasMore": true });
        assert_eq!(tell(Lie::RepeatCursor, views.clone(), None), views);
    }

    #[test]
    fn more_is_denied_beside_a_cursor() {
        let page = json!({ "feedback": [1], "nextCursor": null, "hasMore": true });
        assert_eq!(
            tell(Lie::HasMoreFalse, page, Some(&cursors(None, Some("c")))),
            json!({ "feedback": [1], "nextCursor": "c", "hasMore": false })
        );
        let views = json!({ "views": [1], "hasMore": true });
        assert_eq!(
            tell(Lie::HasMoreFalse, views, None),
            json!({ "views": [1], "hasMore": false })
        );
    }

    #[test]
    fn what_has_nothing_to_lie_about_stays_as_it_is() {
        let no_rows = cursors(None, None);
        for (answer, cursors) in [
            (json!({ "error": "x", "details": [1] }), None),
            (json!({ "threadId": "x", "messages": [1] }), None),
            (json!([1]), None),
            (
                json!({ "conversations": [], "nextCursor": null, "hasMore": false }),
                Some(&no_rows),
            ),
        ] {
            for lie in [Lie::EmptyPage, Lie::RepeatCursor, Lie::HasMoreFalse] {
                assert_eq!(tell(lie, answer.clone(), cursors), answer, "{lie:?}");
            }
        }
    }
}
