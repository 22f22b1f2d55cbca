//! The document: finding elements, reading fields, showing texts.

use quillgate::client::Error;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;
use web_sys::{Document, Event, HtmlElement, HtmlInputElement, HtmlTextAreaElement};

fn document() -> Result<Document, JsValue> {
    let window = web_sys::window().ok_or("this is no page")?;
    window
        .document()
        .ok_or_else(|| "there is no document".into())
}

/// The element of this id.
pub fn find<T: JsCast>(id: &str) -> Result<T, JsValue> {
    let element = document()?.get_element_by_id(id);
    let element = element.ok_or_else(|| format!("there is no element {id}"))?;
    element.dyn_into().map_err(JsValue::from)
}

/// Does something whenever an element has an event, in place of what the browser does.
pub fn on(event: &str, id: &str, run: fn()) -> Result<(), JsValue> {
    let listener = Closure::<dyn Fn(Event)>::new(move |event: Event| {
        event.prevent_default();
        run();
    });
    let function = listener.as_ref().unchecked_ref();
    find::<HtmlElement>(id)?.add_event_listener_with_callback(event, function)?;
    // It is there as long as the page is.
    listener.forget();
    Ok(())
}

/// What a field holds.
pub fn value(id: &str) -> String {
    match find::<HtmlInputElement>(id) {
        Ok(input) => input.value(),
        Err(_) => find(id).map_or_else(|_| String::new(), |area: HtmlTextAreaElement| area.value()),
    }
}

/// Shows a text in an element.
pub fn set_text(id: &str, text: &str) {
    if let Ok(element) = find::<HtmlElement>(id) {
        element.set_text_content(Some(text));
    }
}

/// Shows an element, or hides it.
pub fn set_visible(id: &str, visible: bool) {
    if let Ok(element) = find::<HtmlElement>(id) {
        element.set_hidden(!visible);
    }
}

/// Shows an error with what it comes from, or what the server has to add.
pub fn show_error(id: &str, error: &Error) {
    let mut text = error.to_string();
    let more = match error {
        Error::Api(error) => error.details.join("; "),
        Error::Connection(cause) => cause.to_string(),
        _ => String::new(),
    };
    if !more.is_empty() {
        text.push_str(": ");
        text.push_str(&more);
    }
    set_text(id, &text);
}
