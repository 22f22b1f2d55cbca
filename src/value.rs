//! Untyped values: arguments from JavaScript, parsed JSON, or the parameters of a query.
//!
//! The core reads these values through the trait [`Value`], so the package, the gateway and native
//! programs reject the same ones. In parsed JSON, a property that is `null` counts as absent.

use crate::error::{IntegerRule, Rule, ValidationError};
use crate::text::{format_integer, parse_decimal, quote, to_exact_integer};

/// The type and content of a [`Value`].
#[derive(Debug, Clone, PartialEq)]
pub enum Scalar {
    /// The value is absent.
    Absent,
    /// JavaScript `null`. In parsed JSON, `null` is [`Self::Absent`].
    Null,
    /// A string.
    Text(String),
    /// A string from a URL, where numbers are strings too.
    Wire(String),
    /// A number.
    Number(f64),
    /// `true` or `false`.
    Flag(bool),
    /// Another type, as text, such as `an array` or `an object`.
    Other(&'static str),
}

/// An untyped value.
pub trait Value: Sized {
    /// Returns a property. It is [`Scalar::Absent`] if this is not an object or does not have it.
    #[must_use]
    fn member(&self, name: &'static str) -> Self;

    /// Returns the type and the content.
    fn scalar(self) -> Scalar;

    /// Returns the first property name for which `is_wanted` returns `true`. Returns `None` if
    /// there is no match, or if the names cannot be enumerated.
    #[must_use]
    fn find_name(&self, is_wanted: impl Fn(&str) -> bool) -> Option<String> {
        let _ = is_wanted;
        None
    }

    /// Returns the elements of an array. Empty for other types.
    #[must_use]
    fn elements(&self) -> Vec<Self>;

    /// Returns the content of a string. `None` for other types.
    #[must_use]
    fn text(self) -> Option<String> {
        match self.scalar() {
            Scalar::Text(text) | Scalar::Wire(text) => Some(text),
            _ => None,
        }
    }
}

impl Scalar {
    /// Returns the type as text, without the content.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Absent => "nothing",
            Self::Null => "null",
            Self::Text(_) | Self::Wire(_) => "a string",
            Self::Number(_) => "a number",
            Self::Flag(_) => "a boolean",
            Self::Other(kind) => kind,
        }
    }
}

/// Reads a string.
///
/// # Errors
/// [`Rule::Required`] if the value is absent, [`Rule::Text`] if it is not a string.
pub fn read_text(field: &'static str, value: Scalar) -> Result<String, ValidationError> {
    match value {
        Scalar::Text(text) | Scalar::Wire(text) => Ok(text),
        Scalar::Absent => Err(ValidationError::new(field, Rule::Required, "")),
        other => Err(ValidationError::new(field, Rule::Text, other.kind())),
    }
}

/// Reads a required string property.
///
/// # Errors
/// [`Rule::Required`] if the property is absent, [`Rule::Text`] if it is not a string.
pub fn required_text<V: Value>(params: &V, field: &'static str) -> Result<String, ValidationError> {
    read_text(field, params.member(field).scalar())
}

/// Reads an optional string property.
///
/// # Errors
/// [`Rule::Text`] if the value is not a string.
pub fn optional_text<V: Value>(
    params: &V,
    field: &'static str,
) -> Result<Option<String>, ValidationError> {
    match params.member(field).scalar() {
        Scalar::Absent => Ok(None),
        value => read_text(field, value).map(Some),
    }
}

/// Checks that a string is not empty.
pub(crate) fn check_not_empty(
    field: &'static str,
    text: String,
) -> Result<String, ValidationError> {
    if text.is_empty() {
        return Err(ValidationError::new(field, Rule::NotEmpty, "empty text"));
    }
    Ok(text)
}

/// Reads an optional integer property.
///
/// # Errors
/// [`Rule::Integer`] if the value is not an integer within the bounds.
pub fn optional_integer<V: Value>(
    params: &V,
    field: &'static str,
    rule: &'static IntegerRule,
) -> Result<Option<u64>, ValidationError> {
    match params.member(field).scalar() {
        Scalar::Absent => Ok(None),
        value => read_integer(field, value, rule).map(Some),
    }
}

/// Reads an integer within bounds.
///
/// A string from a URL must consist of decimal digits, without a sign, a point or spaces.
///
/// # Errors
/// [`Rule::Integer`] if the value is not an integer within the bounds.
pub fn read_integer(
    field: &'static str,
    value: Scalar,
    rule: &'static IntegerRule,
) -> Result<u64, ValidationError> {
    let found = match value {
        Scalar::Wire(text) => match parse_decimal(&text) {
            Some(number) => return rule.check(field, number),
            None => quote(&text),
        },
        Scalar::Number(number) => match to_exact_integer(number) {
            Some(number) if number >= 0 => return rule.check(field, number.unsigned_abs()),
            Some(number) => {
                let mut text = String::from("-");
                text.push_str(&format_integer(number.unsigned_abs()));
                text.into()
            }
            None => "a number that is no exact integer".into(),
        },
        other => other.kind().into(),
    };
    Err(ValidationError::new(field, Rule::Integer(rule), found))
}

#[cfg(feature = "json")]
mod json {
    use serde_json::Value as Json;

    use super::{Scalar, Value};

    impl Value for &Json {
        fn member(&self, name: &'static str) -> Self {
            self.get(name).unwrap_or(&Json::Null)
        }

        fn scalar(self) -> Scalar {
            match self {
                Json::Null => Scalar::Absent,
                Json::Bool(flag) => Scalar::Flag(*flag),
                Json::Number(number) => Scalar::Number(number.as_f64().unwrap_or(f64::NAN)),
                Json::String(text) => Scalar::Text(text.clone()),
                Json::Array(_) => Scalar::Other("an array"),
                Json::Object(_) => Scalar::Other("an object"),
            }
        }

        fn find_name(&self, is_wanted: impl Fn(&str) -> bool) -> Option<String> {
            let mut names = self.as_object()?.keys();
            names.find(|name| is_wanted(name)).cloned()
        }

        fn elements(&self) -> Vec<Self> {
            self.as_array()
                .map_or_else(Vec::new, |elements| elements.iter().collect())
        }
    }

    impl Value for Json {
        fn member(&self, name: &'static str) -> Self {
            self.get(name).cloned().unwrap_or(Self::Null)
        }

        fn scalar(self) -> Scalar {
            (&self).scalar()
        }

        fn find_name(&self, is_wanted: impl Fn(&str) -> bool) -> Option<String> {
            (&self).find_name(is_wanted)
        }

        fn elements(&self) -> Vec<Self> {
            self.as_array().cloned().unwrap_or_default()
        }
    }
}

/// The decoded parameters of a query, in order.
#[derive(Debug, Clone)]
pub enum Pairs {
    /// All parameters, as names and values.
    All(Vec<(String, String)>),
    /// The value of one parameter, if present.
    One(Option<String>),
}

impl Value for Pairs {
    fn member(&self, name: &'static str) -> Self {
        match self {
            Self::All(pairs) => Self::One(
                pairs
                    .iter()
                    .find(|(key, _)| key == name)
                    .map(|(_, value)| value.clone()),
            ),
            Self::One(_) => Self::One(None),
        }
    }

    fn scalar(self) -> Scalar {
        match self {
            Self::All(_) => Scalar::Other("an object"),
            Self::One(Some(value)) => Scalar::Wire(value),
            Self::One(None) => Scalar::Absent,
        }
    }

    fn elements(&self) -> Vec<Self> {
        Vec::new()
    }
}
