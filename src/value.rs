//! Values whose type is not yet known: a JavaScript caller's arguments, a parsed
//! JSON body, the pairs of a query string.
//!
//! Parsing works on this one view, so the package, the gateway and a native
//! program refuse the same values. In a parsed JSON body a member that is `null`
//! counts as left out.

use crate::error::{IntegerRule, Rule, ValidationError};
use crate::text::{format_integer, parse_decimal, quote, to_exact_integer};

/// What a [`Value`] turned out to be.
#[derive(Debug, Clone, PartialEq)]
pub enum Scalar {
    /// Not there.
    Absent,
    /// JSON `null`.
    Null,
    /// Text.
    Text(String),
    /// Text from a URL, where a number looks like text too.
    Wire(String),
    /// A number.
    Number(f64),
    /// `true` or `false`.
    Flag(bool),
    /// Anything else, in words: `an array`, `an object`.
    Other(&'static str),
}

/// A value whose type is not yet known.
pub trait Value: Sized {
    /// The member of that name; [`Scalar::Absent`] when there is none or this is no object.
    #[must_use]
    fn member(&self, name: &'static str) -> Self;

    /// What this value is.
    fn scalar(self) -> Scalar;

    /// The names of the members that are there, when this is an object whose members are known.
    #[must_use]
    fn names(&self) -> Vec<String> {
        Vec::new()
    }

    /// The elements, when this is an array; else none.
    #[must_use]
    fn elements(&self) -> Vec<Self>;

    /// The text, when this is text.
    #[must_use]
    fn text(self) -> Option<String> {
        match self.scalar() {
            Scalar::Text(text) | Scalar::Wire(text) => Some(text),
            _ => None,
        }
    }
}

impl Scalar {
    /// What this is, in words, without what it says.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Absent => "nothing",
            Self::Null => "null",
            Self::Text(_) | Self::Wire(_) => "text",
            Self::Number(_) => "a number",
            Self::Flag(_) => "a boolean",
            Self::Other(kind) => kind,
        }
    }
}

/// Reads a value as text.
///
/// # Errors
/// [`Rule::Required`] when it is not there, [`Rule::Text`] when it is something else.
pub fn read_text(field: &'static str, value: Scalar) -> Result<String, ValidationError> {
    match value {
        Scalar::Text(text) | Scalar::Wire(text) => Ok(text),
        Scalar::Absent => Err(ValidationError::new(field, Rule::Required, "")),
        other => Err(ValidationError::new(field, Rule::Text, other.kind())),
    }
}

/// Text that has to be there.
///
/// # Errors
/// [`Rule::Required`] when it is not there, [`Rule::Text`] when it is something else.
pub fn required_text<V: Value>(params: &V, field: &'static str) -> Result<String, ValidationError> {
    read_text(field, params.member(field).scalar())
}

/// Text that may be left out.
///
/// # Errors
/// [`Rule::Text`] when it is something else.
pub fn optional_text<V: Value>(
    params: &V,
    field: &'static str,
) -> Result<Option<String>, ValidationError> {
    match params.member(field).scalar() {
        Scalar::Absent => Ok(None),
        value => read_text(field, value).map(Some),
    }
}

/// Checks that a text has at least one character.
pub(crate) fn check_not_empty(
    field: &'static str,
    text: String,
) -> Result<String, ValidationError> {
    if text.is_empty() {
        return Err(ValidationError::new(field, Rule::NotEmpty, "empty text"));
    }
    Ok(text)
}

/// An integer that may be left out.
///
/// # Errors
/// [`Rule::Integer`] when it is anything else.
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

/// Reads a value as an integer within bounds.
///
/// From a URL only plain decimal digits count: no sign, no point, no spaces.
///
/// # Errors
/// [`Rule::Integer`] when it is anything else.
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

        fn names(&self) -> Vec<String> {
            let members = self.as_object();
            members.map_or_else(Vec::new, |members| members.keys().cloned().collect())
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

        fn names(&self) -> Vec<String> {
            Value::names(&self)
        }

        fn elements(&self) -> Vec<Self> {
            self.as_array().cloned().unwrap_or_default()
        }
    }
}

/// The decoded pairs of a query string, in order.
#[derive(Debug, Clone)]
pub enum Pairs {
    /// All pairs.
    All(Vec<(String, String)>),
    /// One pair's value, when it is there.
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
