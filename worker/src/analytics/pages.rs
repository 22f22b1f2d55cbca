//! Bodies and rows stay JavaScript strings, which are not copied into wasm memory.

use std::cell::OnceCell;
use std::rc::Rc;

use js_sys::{Array, JsString, Object, Reflect};
use quillgate::pages::Totals;
use quillgate::{Millis, Operation};
use serde::{Deserialize, Serialize};
use wasm_bindgen::JsCast;

use crate::analytics::page::{Freshness, PageHead, PageSlice, ReportHead, has_more};
use crate::runtime::{HostError, HostResult, parse_json, stringify_json};

/// Or a whole report that has no pagination.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(from = "FlatPage", into = "FlatPage")]
pub struct Page {
    pub head: PageHead,
    /// Verbatim from Mintlify.
    pub text: JsString,
    /// Parsing the page again for each report would create much garbage.
    parts: Rc<OnceCell<Parts>>,
}

#[derive(Debug)]
struct Parts {
    rows: Array,
    /// As JSON, each followed by a comma. [`HAS_MORE`] replaces `hasMore` and its comma.
    before: String,
    /// In the same form.
    after: String,
}

/// Cannot occur in serialized JSON, which escapes control characters.
const HAS_MORE: char = '\u{1}';

impl Page {
    pub fn new(head: PageHead, text: JsString) -> Self {
        Self {
            head,
            text,
            parts: Rc::default(),
        }
    }

    /// An estimate: a JavaScript string takes at most two bytes per code unit.
    pub fn bytes(&self) -> usize {
        self.text.length() as usize * 4
    }

    fn parts(&self, property: &str) -> HostResult<&Parts> {
        if let Some(parts) = self.parts.get() {
            return Ok(parts);
        }
        let parts = Parts::read(&self.text, property)?;
        Ok(self.parts.get_or_init(|| parts))
    }
}

impl Parts {
    fn read(text: &JsString, property: &str) -> HostResult<Self> {
        let page: Object = parse_json(text)?.unchecked_into();
        let rows = Array::new();
        let (mut before, mut after) = (String::new(), String::new());
        let mut place = &mut before;
        for name in Object::keys(&page).iter() {
            let value = Reflect::get(&page, &name)?;
            if name == property {
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

/// As stored in the database and sent in messages.
#[derive(Deserialize, Serialize)]
struct FlatPage {
    #[serde(with = "serde_wasm_bindgen::preserve")]
    text: JsString,
    tag: String,
    rows: u64,
    has_more: u64,
    /// As text, because JavaScript numbers are exact to 53 bits only.
    totals: Option<String>,
    fetched: Millis,
    fresh_until: Millis,
}

impl From<FlatPage> for Page {
    fn from(row: FlatPage) -> Self {
        let head = PageHead {
            tag: row.tag,
            rows: row.rows,
            has_more: row.has_more != 0,
            totals: row
                .totals
                .and_then(|number| number.parse().ok())
                .map(Totals::from_number),
            freshness: Freshness {
                fetched: row.fetched,
                until: row.fresh_until,
            },
        };
        Self::new(head, row.text)
    }
}

impl From<Page> for FlatPage {
    fn from(Page { head, text, .. }: Page) -> Self {
        Self {
            text,
            tag: head.tag,
            rows: head.rows,
            has_more: head.has_more.into(),
            totals: head.totals.map(|totals| totals.number().to_string()),
            fetched: head.freshness.fetched,
            fresh_until: head.freshness.until,
        }
    }
}

#[derive(Debug, Clone)]
pub struct Report {
    pub head: ReportHead,
    pub body: JsString,
}

impl Report {
    pub fn cut(operation: Operation, pages: &[(Page, PageSlice)]) -> HostResult<Self> {
        let heads: Vec<_> = pages
            .iter()
            .map(|(page, slice)| (&page.head, *slice))
            .collect();
        let (Some(head), Some(last)) = (ReportHead::from_pages(&heads), pages.last()) else {
            return Err(HostError::new("an answer without a page"));
        };
        let (last, slice) = last;
        if pages.len() == 1 && slice.is_whole() {
            let body = last.text.clone();
            return Ok(Self { head, body });
        }
        let property = operation.declaration().pagination.rows().unwrap_or("");
        let mut rows = Array::new();
        for (page, slice) in pages {
            let all = &page.parts(property)?.rows;
            rows = rows.concat(&all.slice(index(slice.from), index(slice.to)));
        }
        // The other properties come from the last page.
        let Parts { before, after, .. } = last.parts(property)?;
        let has_more = format!("\"hasMore\":{},", has_more(&last.head, slice));
        let start = format!("{{{before}\"{property}\":[");
        let end = format!("],{after}");
        let [start, end] = [start, end].map(|part| part.replace(HAS_MORE, &has_more));
        let end = format!("{}}}", end.strip_suffix(',').unwrap_or(&end));
        let body = JsString::from(start).concat(&rows.join(","));
        let body = body.concat(&JsString::from(end));
        Ok(Self { head, body })
    }

    /// An upper bound.
    pub fn bytes(&self) -> usize {
        self.body.length() as usize * 2
    }
}

fn index(row: u64) -> u32 {
    u32::try_from(row).unwrap_or(u32::MAX)
}
