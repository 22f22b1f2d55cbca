//! A JavaScript caller's arguments, seen as values whose type is not yet known.

use std::borrow::Cow;

use js_sys::{Array, Reflect};
use wasm_bindgen::{JsCast, JsValue};

use crate::value::{Scalar, Value};

/// An argument, or a member of one.
pub struct Argument(pub JsValue);

impl Argument {
    /// A member; reading one of something that has none, or a getter that throws, is the same as
    /// not finding it.
    fn get(&self, name: &str) -> JsValue {
        Reflect::get(&self.0, &JsValue::from_str(name)).unwrap_or(JsValue::UNDEFINED)
    }
}

impl Value for Argument {
    fn member(&self, name: &'static str) -> Self {
        Self(self.get(name))
    }

    fn scalar(&self) -> Scalar<'_> {
        let value = &self.0;
        if value.is_undefined() {
            Scalar::Absent
        } else if value.is_null() {
            Scalar::Null
        } else if let Some(text) = value.as_string() {
            Scalar::Text(Cow::Owned(text))
        } else if let Some(number) = value.as_f64() {
            Scalar::Number(number)
        } else if Array::is_array(value) {
            Scalar::Other("an array")
        } else if value.as_bool().is_some() {
            Scalar::Other("a boolean")
        } else if value.is_function() {
            Scalar::Other("a function")
        } else {
            Scalar::Other("an object")
        }
    }

    fn names(&self) -> Vec<String> {
        // Not `instanceof`, which is false for an object without a prototype or of another realm.
        if !self.0.is_object() || Array::is_array(&self.0) {
            return Vec::new();
        }
        // A proxy whose trap throws has no names either.
        let Ok(keys) = Reflect::own_keys(&self.0) else {
            return Vec::new();
        };
        let names = keys.iter().filter_map(|name| name.as_string());
        // What is `undefined` counts as left out, whatever its name.
        names
            .filter(|name| !self.get(name).is_undefined())
            .collect()
    }

    fn elements(&self) -> Vec<Self> {
        match self.0.dyn_ref::<Array>() {
            Some(array) => array.iter().map(Self).collect(),
            None => Vec::new(),
        }
    }
}
