//! Prepares a page of views for staging.

use js_sys::{Array, JsString, Object, Reflect};
use wasm_bindgen::{JsCast, JsValue};

use crate::analytics::archive::stored_path::StoredPath;
use crate::hash::fingerprint;
use crate::runtime::{HostResult, parse_json, stringify_json};

/// Replaces each path that the archive stores in another form. The SQL reads two properties of the row:
/// `quillgate.isPrefix`, and `quillgate.original`, which tells rows of different pages apart.
pub fn replace_paths(text: &JsString) -> HostResult<JsString> {
    let page = parse_json(text)?;
    let rows: Array = Reflect::get(&page, &"views".into())?.unchecked_into();
    let mut has_changed = false;
    for row in rows.iter() {
        let Some(path) = Reflect::get(&row, &"path".into())?.as_string() else {
            continue;
        };
        let stored = StoredPath::of(&path);
        if stored == StoredPath::Page(path.clone()) {
            continue;
        }
        has_changed = true;
        let marks = Object::new();
        let is_prefix = u32::from(matches!(stored, StoredPath::Prefix(_)));
        Reflect::set(&marks, &"isPrefix".into(), &is_prefix.into())?;
        let original = JsValue::from(fingerprint(&[&path]));
        Reflect::set(&marks, &"original".into(), &original)?;
        Reflect::set(&row, &"quillgate".into(), &marks)?;
        Reflect::set(&row, &"path".into(), &stored.as_str().into())?;
    }
    if has_changed {
        stringify_json(&page)
    } else {
        Ok(text.clone())
    }
}
