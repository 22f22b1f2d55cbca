use wasm_bindgen::{JsCast, JsValue};

pub use crate::host_error::HostError;

pub type HostResult<T> = Result<T, HostError>;

impl From<JsValue> for HostError {
    fn from(error: JsValue) -> Self {
        let message = match error.dyn_ref::<js_sys::Error>() {
            Some(error) => Some(error.message().into()),
            None => error.as_string(),
        };
        Self::from_exception(message.unwrap_or_else(|| "an error without words".to_owned()))
    }
}

impl From<HostError> for JsValue {
    fn from(error: HostError) -> Self {
        js_sys::Error::new(&error.to_string()).into()
    }
}

impl From<worker::Error> for HostError {
    fn from(error: worker::Error) -> Self {
        JsValue::from(error).into()
    }
}

impl From<HostError> for worker::Error {
    fn from(error: HostError) -> Self {
        Self::RustError(error.to_string())
    }
}

impl From<serde_wasm_bindgen::Error> for HostError {
    fn from(error: serde_wasm_bindgen::Error) -> Self {
        Self::new(error.to_string())
    }
}
