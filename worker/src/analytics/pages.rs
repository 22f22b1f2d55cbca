//! Pages of analytics, and the reports cut from them. Their text stays a JavaScript string.

use std::cell::OnceCell;
use std::rc::Rc;

use js_sys::{Array, JsString, Object, Reflect};
use quillgate::{Millis, Operation};
use serde::{Deserialize, Serialize};
use wasm_bindgen::JsCast;

use crate::analytics::page::{PageHead, Piece, ReportHead, has_more};
use crate::runtime::{HostError, HostResult, parse_json, stringify_json};

/// A page of analytics.
#[derive(Debug, Clone)]
pub struct Page {
    /// The metadata.
    pub head: PageHead,
    /// The JSON text, verbatim from the upstream.
    pub text: JsString,
    /// The parsed parts, cached at the first cut. Parsing the page for each report would create much more
    /// garbage than the report takes.
    parts: Rc<OnceCell<Parts>>,
}

/// A page in parts, each as JSON.
#[derive(Debug)]
struct Parts {
    /// The texts of its rows.
    rows: Array,
    /// The members before these and those after them, each followed by a comma; [`HAS_MORE`] stands
    /// for `hasMore`.
    before: String,
    after: String,
}

/// A character that JSON never has but escaped.
const HAS_MORE: char = '\u{1}';

impl Page {
    /// A page with this text.
    pub fn new(head: PageHead, text: JsString) -> Self {
        Self {
            head,
            text,
            parts: Rc::default(),
        }
    }

    /// The most bytes that its text may take, in one piece and in parts: a character of a JavaScript
    /// string has two at most.
    pub fn bytes(&self) -> usize {
        count_bytes(&self.text) * 2
    }

    fn parts(&self, member: &str) -> HostResult<&Parts> {
        if let Some(parts) = self.parts.get() {
            return Ok(parts);
        }
        let parts = Parts::read(&self.text, member)?;
        Ok(self.parts.get_or_init(|| parts))
    }
}

impl Parts {
    /// Reads the parts of a page whose rows are in the member of this name.
    fn read(text: &JsString, member: &str) -> HostResult<Self> {
        let page: Object = parse_json(text)?.unchecked_into();
        let rows = Array::new();
        let (mut before, mut after) = (String::new(), String::new());
        let mut place = &mut before;
        for name in Object::keys(&page).iter() {
            let value = Reflect::get(&page, &name)?;
            if name == member {
                for row in value.unchecked_into::<Array>().iter() {
                    rows.push(&stringify_json(&row)?.into());
                }
                place = &mut after;
            } else if name == "hasMore" {
                place.push(HAS_MORE);
            } else {
                for (part, sign) in [(&name, ':'), (&value, ',')] {
                    place.push_str(&String::from(stringify_json(part)?));
                    place.push(sign);
                }
            }
        }
        Ok(Self {
            rows,
            before,
            after,
        })
    }
}

fn count_bytes(text: &JsString) -> usize {
    text.length() as usize * 2
}

/// A page as a row of a table, and in a message.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub struct PageRow {
    #[serde(with = "serde_wasm_bindgen::preserve")]
    pub text: JsString,
    pub tag: String,
    pub rows: u64,
    pub has_more: u64,
    pub fetched: u64,
    pub fresh_until: u64,
}

impl From<PageRow> for Page {
    fn from(row: PageRow) -> Self {
        let head = PageHead {
            tag: row.tag,
            rows: row.rows,
            has_more: row.has_more != 0,
            fetched: Millis(row.fetched),
            fresh_until: Millis(row.fresh_until),
        };
        Self::new(head, row.text)
    }
}

impl From<Page> for PageRow {
    fn from(Page { head, text, .. }: Page) -> Self {
        Self {
            text,
            tag: head.tag,
            rows: head.rows,
            has_more: head.has_more.into(),
            fetched: head.fetched.0,
            fresh_until: head.fresh_until.0,
        }
    }
}

/// An answer with a report.
#[derive(Debug, Clone)]
pub struct ReportAnswer {
    /// The values of the header fields.
    pub head: ReportHead,
    /// The body.
    pub body: JsString,
}

impl ReportAnswer {
    /// Cuts an answer from the pages that its rows are on.
    pub fn cut(operation: Operation, pages: &[(Page, Piece)]) -> HostResult<Self> {
        let heads: Vec<_> = pages
            .iter()
            .map(|(page, piece)| (&page.head, *piece))
            .collect();
        let head = ReportHead::from_pages(&heads).ok_or_else(no_page)?;
        let body = cut_body(operation, pages)?;
        Ok(Self { head, body })
    }

    /// The most bytes that its body may take.
    pub fn bytes(&self) -> usize {
        count_bytes(&self.body)
    }
}

#[cold]
fn no_page() -> HostError {
    HostError::new("an answer without a page")
}

fn cut_body(operation: Operation, pages: &[(Page, Piece)]) -> HostResult<JsString> {
    let (last, piece) = pages.last().ok_or_else(no_page)?;
    if pages.len() == 1 && piece.is_whole() {
        return Ok(last.text.clone());
    }
    let member = operation.declaration().pagination.rows().unwrap_or("");
    let mut rows = Array::new();
    for (page, piece) in pages {
        let all = &page.parts(member)?.rows;
        rows = rows.concat(&all.slice(index(piece.from), index(piece.to)));
    }
    // The other properties come from the last page.
    let Parts { before, after, .. } = last.parts(member)?;
    let has_more = has_more(&last.head, piece).to_string();
    let has_more = ["\"hasMore\":", &has_more, ","].concat();
    let start = ["{", before, "\"", member, "\":["].concat();
    let end = ["],", after].concat();
    let [start, end] = [start, end].map(|part| part.replace(HAS_MORE, &has_more));
    let end = [end.strip_suffix(',').unwrap_or(&end), "}"].concat();
    let body = JsString::from(start).concat(&rows.join(","));
    Ok(body.concat(&JsString::from(end)))
}

/// Converts the index of a row, which is at most 250.
fn index(row: u64) -> u32 {
    u32::try_from(row).unwrap_or(u32::MAX)
}
