//! Elements of the document: events, fields and text.

use quillgate::Error;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;
use web_sys::{
    Document, Event, HtmlButtonElement, HtmlElement, HtmlInputElement, HtmlTextAreaElement,
};

fn document() -> Result<Document, JsValue> {
    let window = web_sys::window().ok_or("no window")?;
    window.document().ok_or_else(|| "no document".into())
}

/// Returns the element with this id.
pub fn find<T: JsCast>(id: &str) -> Result<T, JsValue> {
    let element = document()?.get_element_by_id(id);
    let element = element.ok_or_else(|| format!("element {id} is missing"))?;
    element.dyn_into().map_err(JsValue::from)
}

/// Calls `run` when an element is clicked.
pub fn on_click(id: &str, run: fn()) -> Result<(), JsValue> {
    listen(&find(id)?, "click", run)
}

/// Calls `run` when a form is submitted, and enables the form's button.
///
/// The button is disabled in `index.html`, because submitting the form without a listener would
/// reload the page.
pub fn on_submit(form_id: &str, run: fn()) -> Result<(), JsValue> {
    let form: HtmlElement = find(form_id)?;
    listen(&form, "submit", run)?;
    let button = form
        .query_selector("button")?
        .ok_or("the form has no button")?;
    button.dyn_into::<HtmlButtonElement>()?.set_disabled(false);
    Ok(())
}

/// Calls `run` instead of the browser's default action.
fn listen(element: &HtmlElement, event: &str, run: fn()) -> Result<(), JsValue> {
    let listener = Closure::<dyn Fn(Event)>::new(move |event: Event| {
        event.prevent_default();
        run();
    });
    let function = listener.as_ref().unchecked_ref();
    element.add_event_listener_with_callback(event, function)?;
    // The listener lives as long as the page.
    listener.forget();
    Ok(())
}

/// Returns the value of a field.
pub fn value(id: &str) -> String {
    match find::<HtmlInputElement>(id) {
        Ok(input) => input.value(),
        Err(_) => find(id).map_or_else(|_| String::new(), |area: HtmlTextAreaElement| area.value()),
    }
}

/// Replaces the content of an element.
pub fn set_text(id: &str, text: &str) {
    if let Ok(element) = find::<HtmlElement>(id) {
        element.set_text_content(Some(text));
    }
}

/// Shows or hides an element.
pub fn set_visible(id: &str, visible: bool) {
    if let Ok(element) = find::<HtmlElement>(id) {
        element.set_hidden(!visible);
    }
}

/// Shows an error with its cause or the details from the server.
pub fn show_error(id: &str, error: &Error) {
    let mut text = error.to_string();
    let more = match error {
        Error::Api(error) => error.details.join("; "),
        Error::Connection(failure) => failure.cause.to_string(),
        _ => String::new(),
    };
    if !more.is_empty() {
        text.push_str(": ");
        text.push_str(&more);
    }
    set_text(id, &text);
}
