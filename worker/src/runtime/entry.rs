//! The JavaScript entry, which still works after a trap of the wasm module.

use std::cell::RefCell;

use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use web_sys::{AbortSignal, ReadableStream};

use crate::runtime::error::{HostError, HostResult};

#[wasm_bindgen]
extern "C" {
    /// `worker/entry/index.js`.
    pub type Entry;

    #[wasm_bindgen(method, js_name = openStream)]
    fn open_stream(this: &Entry, source: JsValue, signal: &AbortSignal) -> ReadableStream;
}

thread_local! {
    static ENTRY: RefCell<Option<Entry>> = const { RefCell::new(None) };
}

pub fn set_entry(entry: Entry) {
    ENTRY.set(Some(entry));
}

/// Opens a stream that also ends if the module traps. `source.next` returns a promise of an array:
/// empty at the end, else the next chunk and, optionally, the ending. If the next call fails, the
/// stream ends with that ending. `source.cancel` is called when the client disconnects.
pub fn open_stream(source: impl Into<JsValue>, signal: &AbortSignal) -> HostResult<ReadableStream> {
    ENTRY.with_borrow(|entry| {
        let unattached = || HostError::new("the entry is not attached");
        let entry = entry.as_ref().ok_or_else(unattached)?;
        Ok(entry.open_stream(source.into(), signal))
    })
}
