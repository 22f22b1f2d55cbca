//! Validation of requests against the core's declarations of parameters.

use quillgate::declaration::{Parameter, ParameterKind};
use quillgate::error::IntegerRule;
use quillgate::text::MAX_SAFE_INTEGER;

use crate::date::Day;
use crate::ulid::Ulid;

/// A valid value of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Value {
    Date(Day),
    Integer(usize),
    Text(String),
}

/// The values of the declared parameters that were sent or have a default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Arguments(Vec<(&'static str, Value)>);

impl Arguments {
    /// Reads the declared parameters and returns the values with a list of problems.
    ///
    /// The first of several values wins. Undeclared names are ignored, and so is `page`, which
    /// Quillgate sends as `offset`.
    pub(crate) fn read(
        parameters: &[Parameter],
        pairs: &[(String, String)],
    ) -> (Self, Vec<String>) {
        let mut values = Vec::new();
        let mut problems = Vec::new();
        for parameter in parameters {
            let value = pairs.iter().find(|(name, _)| name == parameter.name);
            match read(parameter, value.map(|(_, text)| text.as_str())) {
                Ok(value) => values.extend(value.map(|value| (parameter.name, value))),
                Err(problem) => problems.push(problem),
            }
        }
        (Self(values), problems)
    }

    /// The date, if it was sent.
    pub(crate) fn date(&self, name: &str) -> Option<Day> {
        match self.value(name)? {
            Value::Date(day) => Some(*day),
            Value::Integer(_) | Value::Text(_) => None,
        }
    }

    /// The number or its default, or `None` if it is not declared.
    pub(crate) fn integer(&self, name: &str) -> Option<usize> {
        match self.value(name)? {
            Value::Integer(number) => Some(*number),
            Value::Date(_) | Value::Text(_) => None,
        }
    }

    /// The string, enum value or ULID, if it was sent.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        match self.value(name)? {
            Value::Text(text) => Some(text),
            Value::Date(_) | Value::Integer(_) => None,
        }
    }

    fn value(&self, name: &str) -> Option<&Value> {
        let found = self.0.iter().find(|(of, _)| *of == name);
        found.map(|(_, value)| value)
    }
}

fn read(parameter: &Parameter, value: Option<&str>) -> Result<Option<Value>, String> {
    let name = parameter.name;
    match (parameter.kind, value) {
        (ParameterKind::Page, _) => Ok(None),
        (kind, Some(text)) => match read_value(kind, text) {
            Some(value) => Ok(Some(value)),
            None => Err(format!("{name} must be {}", describe(kind))),
        },
        (ParameterKind::Integer { default, .. }, None) => Ok(Some(Value::Integer(number(default)))),
        (_, None) if parameter.is_required => Err(format!("{name} is required")),
        (_, None) => Ok(None),
    }
}

/// Parses a value. Only Quillgate rejects empty strings, ids and unknown words of a list; the
/// platform accepts them.
fn read_value(kind: ParameterKind, text: &str) -> Option<Value> {
    let text_value = || Value::Text(text.to_owned());
    match kind {
        ParameterKind::Date => Day::parse(text).map(Value::Date),
        ParameterKind::Integer { rule, .. } => whole_number(text)
            .filter(|found| *found >= number(rule.min))
            .filter(|found| documented_max(rule).is_none_or(|max| *found <= number(max)))
            .map(Value::Integer),
        ParameterKind::OneOf(words) => words.contains(&text).then(text_value),
        ParameterKind::Ulid => Ulid::parse(text).map(|_| text_value()),
        ParameterKind::Text | ParameterKind::Id | ParameterKind::ListOf(_) => Some(text_value()),
        ParameterKind::Page => None,
    }
}

/// The rule of a kind, as the end of an error message.
fn describe(kind: ParameterKind) -> String {
    match kind {
        ParameterKind::Date => "a valid date".to_owned(),
        ParameterKind::Integer { rule, .. } => match documented_max(rule) {
            Some(max) => format!("an integer from {} to {max}", rule.min),
            None => format!("an integer of at least {}", rule.min),
        },
        ParameterKind::OneOf(words) => format!("one of {}", words.join(", ")),
        ParameterKind::Text | ParameterKind::Id | ParameterKind::ListOf(_) => "text".to_owned(),
        ParameterKind::Ulid => "a ULID".to_owned(),
        ParameterKind::Page => "a page".to_owned(),
    }
}

/// The maximum of the platform. The maximum safe integer is a rule of Quillgate only.
fn documented_max(rule: &IntegerRule) -> Option<u64> {
    (rule.max < MAX_SAFE_INTEGER).then_some(rule.max)
}

fn number(declared: u64) -> usize {
    usize::try_from(declared).unwrap_or(usize::MAX)
}

/// Parses digits only. An overflowing number saturates.
fn whole_number(text: &str) -> Option<usize> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().unwrap_or(usize::MAX))
}
