//! A run through the pages of a list.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::{Array, Promise, Reflect};
use wasm_bindgen::prelude::*;
use wasm_bindgen::{JsCast, JsValue};

use crate::call::Call;
use crate::declaration::ParameterKind;
use crate::error::{Error, ValidationError};
use crate::pages::{PageInfo, Pages as Run};
use crate::project::ProjectId;
use crate::text::parse_decimal;
use crate::wasm::call::{CallOptions, Prepared, Sender, promise};
use crate::wasm::fault::{self, Plain};
use crate::wasm::host::{self, number};

#[wasm_bindgen]
extern "C" {
    /// A decoded page, of which only this much is looked at.
    type Page;

    #[wasm_bindgen(method, getter, js_name = hasMore)]
    fn has_more(this: &Page) -> Option<bool>;

    #[wasm_bindgen(method, getter, js_name = nextCursor)]
    fn next_cursor(this: &Page) -> Option<String>;
}

/// A run through the pages of a list.
#[wasm_bindgen]
pub struct Pages(Rc<List>);

struct List {
    project: ProjectId,
    sender: Rc<Sender>,
    rows: &'static str,
    run: RefCell<Run>,
}

impl Pages {
    /// A run that begins with this call, or one through everything from there on.
    pub(crate) fn new(
        project: ProjectId,
        sender: Rc<Sender>,
        call: Call,
        everything: bool,
    ) -> Result<Self, ValidationError> {
        let rows = call.declaration().pagination.rows();
        let run = if everything {
            Run::through_everything(call, host::now())?
        } else {
            Run::new(call)
        };
        Ok(Self(Rc::new(List {
            project,
            sender,
            rows: rows.unwrap_or(""),
            run: RefCell::new(run),
        })))
    }
}

impl List {
    /// The request of the next page, and where that begins.
    fn prepare(&self) -> Option<(Prepared, Option<u64>)> {
        let run = self.run.borrow();
        let call = run.next()?;
        Some((Prepared::new(call, &self.project), call.integer("offset")))
    }

    async fn next(&self, options: JsValue) -> Result<JsValue, JsValue> {
        let Some((prepared, offset)) = self.prepare() else {
            return Ok(JsValue::UNDEFINED);
        };
        let options = CallOptions::read(options)?;
        let answer = self.sender.run(&prepared, &options).await?;
        let page: &Page = answer.data.unchecked_ref();
        let rows = Reflect::get(&answer.data, &JsValue::from_str(self.rows))?;
        let cursor = page.next_cursor();
        let info = PageInfo {
            rows: rows.unchecked_ref::<Array>().length().into(),
            has_more: page.has_more(),
            next_cursor: cursor.as_deref(),
        };
        let advanced = self.run.borrow_mut().advance(&info);
        advanced.map_err(|error| given_up(&error, &answer.response))?;
        Ok(Plain::new()
            .with("data", answer.data)
            .with("response", answer.response)
            .with("rows", rows)
            .with(
                "offset",
                offset.map_or(JsValue::NULL, |offset| number(offset).into()),
            )
            .into())
    }
}

#[wasm_bindgen]
impl Pages {
    /// The next page as `{ data, response, rows, offset }`, or `undefined` when the run is
    /// over. A page that failed is asked for again by the next call.
    pub fn next(&self, options: JsValue) -> Promise {
        let list = Rc::clone(&self.0);
        promise(async move { list.next(options).await })
    }

    /// Where the run stands, as the parameters of a list that goes on from there;
    /// `null` when the run is over.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn cursor(&self) -> JsValue {
        let run = self.0.run.borrow();
        let Some(call) = run.next() else {
            return JsValue::NULL;
        };
        let add = |cursor: Plain, (parameter, text): (&crate::declaration::Parameter, &str)| {
            let value = match (parameter.kind, parse_decimal(text)) {
                (ParameterKind::Integer { .. }, Some(integer)) => number(integer).into(),
                _ => JsValue::from_str(text),
            };
            cursor.with(parameter.name, value)
        };
        call.arguments().fold(Plain::new(), add).into()
    }
}

fn given_up(error: &Error, response: &web_sys::Response) -> JsValue {
    match error {
        Error::Validation(error) => fault::validation(error),
        Error::Decode(error) => {
            let id = response.headers().get("x-request-id").ok().flatten();
            fault::decode(error, id, response.headers().into())
        }
        Error::Api(_) => JsValue::UNDEFINED,
    }
}
