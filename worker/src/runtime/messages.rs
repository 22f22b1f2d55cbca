//! Messages between the Worker and its Durable Objects.

use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::JsValue;

use crate::runtime::error::HostResult;

pub fn receive<T: DeserializeOwned>(value: JsValue) -> HostResult<T> {
    Ok(serde_wasm_bindgen::from_value(value)?)
}

/// Serializes absent values as `null`.
pub fn send_back<T: Serialize>(value: &T) -> HostResult<JsValue> {
    let serializer = serde_wasm_bindgen::Serializer::new().serialize_missing_as_null(true);
    Ok(value.serialize(&serializer)?)
}
