//! The JavaScript entry. The wasm module opens streams with a function of the entry, because the
//! entry still works after a trap.

use std::cell::RefCell;

use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use web_sys::{AbortSignal, ReadableStream};

use crate::runtime::error::{HostError, HostResult};

#[wasm_bindgen]
extern "C" {
    /// The functions that the JavaScript entry, `worker/entry/index.js`, passes to the module.
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

/// Opens a stream that also ends if the module traps.
///
/// `source` has the methods `next` and `cancel`. `next` returns a promise of an array with at most
/// two chunks:
///
/// - The first element is the next chunk of the stream.
/// - The second element is the ending. If the next call of `next` fails, for example because the
///   module traps, the stream ends with this chunk. Without an ending, the stream ends after the
///   first chunk.
///
/// An empty array ends the stream. `cancel` is called when the client disconnects.
///
/// # Errors
/// Returns an error if the entry has not attached its functions.
pub fn open_stream(source: impl Into<JsValue>, signal: &AbortSignal) -> HostResult<ReadableStream> {
    ENTRY.with_borrow(|entry| {
        let entry = entry.as_ref();
        let entry = entry.ok_or_else(|| HostError::new("the entry is not attached"))?;
        Ok(entry.open_stream(source.into(), signal))
    })
}
