//! Reads JavaScript objects into types: rows of a database, and messages that an object or the Worker
//! sent. Members are read by name, and every one has to be there: a misspelt one is an error.
//!
//! serde-wasm-bindgen writes what is read here. To read by it too would bring a deserialiser for each
//! type, and float formatting for its errors.

use js_sys::{Array, JsString, Uint8Array};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};

use crate::runtime::error::{HostError, HostResult};

#[wasm_bindgen]
extern "C" {
    /// A row or a message: its members are plain, so that to read one never throws.
    type Plain;

    #[wasm_bindgen(method, structural, indexing_getter)]
    fn get(this: &Plain, name: &str) -> JsValue;
}

/// A type that a value of JavaScript is read into.
pub trait FromValue: Sized {
    /// Reads a value.
    ///
    /// # Errors
    /// A value of another type.
    fn from_value(value: JsValue) -> HostResult<Self>;
}

/// The members of an object.
pub struct Members<'a>(&'a Plain);

impl<'a> Members<'a> {
    /// The members of a value.
    ///
    /// # Errors
    /// A value that is no object.
    pub fn of(value: &'a JsValue) -> HostResult<Self> {
        if value.is_object() {
            Ok(Self(value.unchecked_ref()))
        } else {
            mismatch("an object")
        }
    }

    /// Reads a member, which has to be there.
    ///
    /// # Errors
    /// The name of a member that is missing or of another type.
    pub fn read<T: FromValue>(&self, name: &'static str) -> HostResult<T> {
        let member = T::from_value(self.get(name));
        member.map_err(|error| name_error(name, &self.get(name), &error))
    }

    fn get(&self, name: &'static str) -> JsValue {
        self.0.get(name)
    }
}

#[cold]
fn name_error(name: &str, value: &JsValue, error: &HostError) -> HostError {
    let end = if value.is_undefined() {
        " is missing".to_owned()
    } else {
        [": ", &error.to_string()].concat()
    };
    HostError::new([name, &end].concat())
}

/// Declares that a struct is read from an object with these members: `Type { field, … }`, where
/// `field as "name"` is a member of another name.
macro_rules! read_by_name {
    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $name:literal) => { $name };
    ($kind:ty { $($field:ident $(as $name:literal)?),+ $(,)? }) => {
        impl $crate::runtime::FromValue for $kind {
            fn from_value(value: wasm_bindgen::JsValue) -> $crate::runtime::HostResult<Self> {
                let members = $crate::runtime::Members::of(&value)?;
                Ok(Self {
                    $($field: members
                        .read($crate::runtime::read_by_name!(@name $field $($name)?))?,)+
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
        if value.is_undefined() {
            return mismatch("a value");
        }
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
        let members = (0..list.length()).map(|at| {
            let member = T::from_value(list.get(at));
            member.map_err(|error| name_error(&at.to_string(), &list.get(at), &error))
        });
        members.collect()
    }
}

/// Reads a value whose types are named by text.
pub fn read_named<T>(value: &JsValue, from_name: impl Fn(&str) -> Option<T>) -> HostResult<T> {
    let name = value.as_string();
    let named = name.as_deref().and_then(from_name);
    named.map_or_else(|| mismatch("another name"), Ok)
}
