//! Reads JavaScript objects into types: rows of a database, and messages that an object or the Worker
//! sent. Members are read by name, and every one has to be there: a misspelt one is an error.
//!
//! serde-wasm-bindgen writes what is read here. To read by it too would bring a deserialiser for each
//! type, and float formatting for its errors.

use js_sys::{Array, JsString, Reflect, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};

use super::error::{HostError, HostResult};

/// A type that a value of JavaScript is read into.
pub trait FromValue: Sized {
    /// Reads a value.
    ///
    /// # Errors
    /// A value of another type.
    fn from_value(value: JsValue) -> HostResult<Self>;
}

/// Reads a member, which has to be there.
///
/// # Errors
/// The name of a member that is missing or of another type.
pub fn read_member<T: FromValue>(object: &JsValue, name: &str) -> HostResult<T> {
    let value = Reflect::get(object, &JsValue::from_str(name))?;
    if value.is_undefined() {
        return Err(HostError::new([name, " is missing"].concat()));
    }
    T::from_value(value).map_err(|error| in_member(name, &error))
}

#[cold]
fn in_member(name: &str, error: &HostError) -> HostError {
    HostError::new([name, ": ", &error.to_string()].concat())
}

/// Declares that a struct is read from an object with these members: `Type { field, … }`, where
/// `field as "name"` is a member of another name.
macro_rules! read_by_name {
    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $name:literal) => { $name };
    ($kind:ty { $($field:ident $(as $name:literal)?),+ $(,)? }) => {
        impl $crate::platform::FromValue for $kind {
            fn from_value(value: wasm_bindgen::JsValue) -> $crate::platform::HostResult<Self> {
                Ok(Self {
                    $($field: $crate::platform::read_member(
                        &value,
                        $crate::platform::read_by_name!(@name $field $($name)?),
                    )?,)+
                })
            }
        }
    };
}
pub(crate) use read_by_name;

fn mismatch<T>(expected: &str) -> HostResult<T> {
    Err(HostError::new([expected, " was expected"].concat()))
}

impl FromValue for JsValue {
    fn from_value(value: JsValue) -> HostResult<Self> {
        Ok(value)
    }
}

impl FromValue for String {
    fn from_value(value: JsValue) -> HostResult<Self> {
        value.as_string().map_or_else(|| mismatch("text"), Ok)
    }
}

impl FromValue for JsString {
    fn from_value(value: JsValue) -> HostResult<Self> {
        value.dyn_into().or_else(|_| mismatch("text"))
    }
}

impl FromValue for Uint8Array {
    fn from_value(value: JsValue) -> HostResult<Self> {
        value.dyn_into().or_else(|_| mismatch("bytes"))
    }
}

impl FromValue for bool {
    fn from_value(value: JsValue) -> HostResult<Self> {
        value.as_bool().map_or_else(|| mismatch("a boolean"), Ok)
    }
}

impl FromValue for u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an integer that is not negative; one above 2^53 saturates"
    )]
    fn from_value(value: JsValue) -> HostResult<Self> {
        match value.as_f64() {
            Some(number) if number >= 0.0 && number.fract() == 0.0 => Ok(number as Self),
            _ => mismatch("a number"),
        }
    }
}

impl FromValue for u32 {
    fn from_value(value: JsValue) -> HostResult<Self> {
        let number = u64::from_value(value)?;
        Self::try_from(number).or_else(|_| mismatch("a smaller number"))
    }
}

impl FromValue for u16 {
    fn from_value(value: JsValue) -> HostResult<Self> {
        let number = u64::from_value(value)?;
        Self::try_from(number).or_else(|_| mismatch("a smaller number"))
    }
}

impl<T: FromValue> FromValue for Option<T> {
    fn from_value(value: JsValue) -> HostResult<Self> {
        if value.is_null() {
            return Ok(None);
        }
        T::from_value(value).map(Some)
    }
}

impl<T: FromValue> FromValue for Vec<T> {
    fn from_value(value: JsValue) -> HostResult<Self> {
        let list: Array = value.dyn_into().or_else(|_| mismatch("a list"))?;
        let members = 0..list.length();
        members
            .map(|at| read_member(&list, &at.to_string()))
            .collect()
    }
}

/// Reads a value whose types are named by text.
pub fn read_named<T>(value: &JsValue, from_name: impl Fn(&str) -> Option<T>) -> HostResult<T> {
    let name = value.as_string();
    let named = name.as_deref().and_then(from_name);
    named.map_or_else(|| mismatch("another name"), Ok)
}
