//! Texts of the program as JavaScript has them. To make such a string costs more than to read a member by
//! it, and a statement is found again the sooner when it is the same string.

use std::cell::RefCell;

use wasm_bindgen::JsValue;

thread_local! {
    /// Each text once it was asked for, sorted by where it is: there are as many as the program has.
    static TEXTS: RefCell<Vec<(&'static str, JsValue)>> = RefCell::default();
}

/// A text of the program as a string of JavaScript, the same one each time.
pub fn intern(text: &'static str) -> JsValue {
    let place = |text: &str| (text.as_ptr(), text.len());
    TEXTS.with_borrow_mut(|texts| {
        let found = texts.binary_search_by_key(&place(text), |(own, _)| place(own));
        let at = found.unwrap_or_else(|at| {
            texts.insert(at, (text, text.into()));
            at
        });
        texts[at].1.clone()
    })
}
