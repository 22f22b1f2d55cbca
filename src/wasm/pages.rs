//! A run through the pages of a list.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::{Array, Promise};
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;

use crate::Millis;
use crate::error::{Error, ValidationError};
use crate::page_views::{ListPageViews, Offset, PageSize};
use crate::paginate::OffsetPages;
use crate::project::ProjectId;
use crate::wasm::call::{CallOptions, Sender, prepared, promise};
use crate::wasm::engine::Prepared;
use crate::wasm::fault::{self, Plain};
use crate::wasm::host::{self, milliseconds};

#[wasm_bindgen]
extern "C" {
    /// A decoded page, of which only this much is looked at.
    type Page;

    #[wasm_bindgen(method, getter)]
    fn views(this: &Page) -> Array;

    #[wasm_bindgen(method, getter, js_name = hasMore)]
    fn has_more(this: &Page) -> bool;
}

/// A run through the pages of a list of page views.
#[wasm_bindgen]
pub struct Pages(Rc<Run>);

struct Run {
    project: ProjectId,
    sender: Rc<Sender>,
    list: ListPageViews,
    pages: RefCell<OffsetPages>,
}

impl Pages {
    /// A run that begins where `list` says. A run through everything asks for the
    /// largest pages, where no size is given, and freezes an open end at its beginning.
    pub(crate) fn new(
        project: ProjectId,
        sender: Rc<Sender>,
        list: ListPageViews,
        everything: bool,
    ) -> Result<Self, ValidationError> {
        let (list, usual) = if everything {
            (list.frozen_at(host::now())?, PageSize::MAX)
        } else {
            (list, PageSize::DEFAULT)
        };
        let size = list.limit.unwrap_or(usual);
        let pages = OffsetPages::new(list.offset.unwrap_or_default(), size);
        Ok(Self(Rc::new(Run {
            project,
            sender,
            list,
            pages: RefCell::new(pages),
        })))
    }
}

impl Run {
    async fn next(&self, options: JsValue) -> Result<JsValue, JsValue> {
        let Some(offset) = self.pages.borrow().next() else {
            return Ok(JsValue::UNDEFINED);
        };
        let options = CallOptions::read(options)?;
        let answer = self.sender.run(&self.prepared(offset), &options).await?;
        let page: &Page = answer.data.unchecked_ref();
        let rows = u64::from(page.views().length());
        self.pages
            .borrow_mut()
            .advance(rows, page.has_more())
            .map_err(|error| given_up(&error, &answer.response))?;
        Ok(Plain::new()
            .with("data", answer.data)
            .with("response", answer.response)
            .with("offset", number(offset))
            .into())
    }

    fn prepared(&self, offset: Offset) -> Prepared {
        let list = ListPageViews {
            limit: Some(self.pages.borrow().size()),
            offset: Some(offset),
            ..self.list.clone()
        };
        prepared(&list, &self.project)
    }
}

#[wasm_bindgen]
impl Pages {
    /// The next page as `{ data, response, offset }`, or `undefined` when the run is
    /// over. A page that failed is asked for again by the next call.
    pub fn next(&self, options: JsValue) -> Promise {
        let run = Rc::clone(&self.0);
        promise(async move { run.next(options).await })
    }

    /// Where the run stands, as the parameters of a list that goes on from there;
    /// `null` when the run is over.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn cursor(&self) -> JsValue {
        let Run { list, pages, .. } = &*self.0;
        let pages = pages.borrow();
        let Some(offset) = pages.next() else {
            return JsValue::NULL;
        };
        let mut cursor = Plain::new();
        if let Some(from) = list.range.from() {
            cursor = cursor.with("dateFrom", from.as_str());
        }
        if let Some(to) = list.range.to() {
            cursor = cursor.with("dateTo", to.as_str());
        }
        cursor
            .with("limit", milliseconds(Millis(pages.size().get())))
            .with("offset", number(offset))
            .into()
    }
}

fn number(offset: Offset) -> f64 {
    milliseconds(Millis(offset.get()))
}

fn given_up(error: &Error, response: &web_sys::Response) -> JsValue {
    match error {
        Error::Validation(error) => fault::validation(error),
        Error::Decode(error) => {
            let id = response.headers().get("x-request-id").ok().flatten();
            fault::decode(error, id, response.headers().into())
        }
        _ => JsValue::UNDEFINED,
    }
}
