//! Whether a parsed answer has the members that its operation promises.

use js_sys::{Array, Number, Reflect};
use quillgate::schema::Kind;
use wasm_bindgen::JsValue;

/// Whether a value is of this kind, and the members of an object are of theirs. What is within a
/// list or within a member is the caller's to check: to walk through 250 rows from here would cost
/// more than to fetch them.
pub fn has_shape(value: &JsValue, kind: &Kind) -> bool {
    let Kind::Object(object) = kind else {
        return is_of_kind(value, kind);
    };
    is_of_kind(value, kind)
        && object.fields.iter().all(|field| {
            let member = Reflect::get(value, &JsValue::from_str(field.name));
            member.is_ok_and(|member| is_of_kind(&member, &field.kind))
        })
}

fn is_of_kind(value: &JsValue, kind: &Kind) -> bool {
    match kind {
        Kind::Text | Kind::OpenEnum(_) | Kind::Tag(_) => value.is_string(),
        Kind::Number => Number::is_finite(value),
        Kind::Count => Number::is_safe_integer(value) && value.as_f64() >= Some(0.0),
        Kind::Flag => value.as_bool().is_some(),
        Kind::Object(_) | Kind::Union(_) => value.is_object() && !Array::is_array(value),
        Kind::List(_) => Array::is_array(value),
        Kind::Nothing => value.is_undefined(),
        Kind::Nullable(kind) => value.is_null() || value.is_undefined() || is_of_kind(value, kind),
    }
}
