//! Validation of requests against the core's declarations of parameters.

use quillgate::declaration::{Parameter, ParameterKind};
use quillgate::error::IntegerRule;
use quillgate::text::MAX_SAFE_INTEGER;

use crate::date::Day;
use crate::ulid::Ulid;

/// The values of the declared parameters that were sent or have a default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Arguments(Vec<(&'static str, String)>);

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
        Day::parse(self.text(name)?)
    }

    /// The number or its default, or `None` if it is not declared.
    pub(crate) fn integer(&self, name: &str) -> Option<usize> {
        whole_number(self.text(name)?)
    }

    /// The value as it was sent, if it was sent.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(of, _)| *of == name);
        found.map(|(_, value)| value.as_str())
    }
}

fn read(parameter: &Parameter, value: Option<&str>) -> Result<Option<String>, String> {
    let name = parameter.name;
    match (parameter.kind, value) {
        (ParameterKind::Page, _) => Ok(None),
        (kind, Some(text)) if is_valid(kind, text) => Ok(Some(text.to_owned())),
        (kind, Some(_)) => Err(format!("{name} must be {}", describe(kind))),
        (ParameterKind::Integer { default, .. }, None) => Ok(Some(default.to_string())),
        (_, None) if parameter.is_required => Err(format!("{name} is required")),
        (_, None) => Ok(None),
    }
}

/// Only Quillgate rejects empty strings, ids and unknown words of a list; the platform accepts them.
fn is_valid(kind: ParameterKind, text: &str) -> bool {
    match kind {
        ParameterKind::Date => Day::parse(text).is_some(),
        ParameterKind::Integer { rule, .. } => whole_number(text).is_some_and(|found| {
            let is_small = documented_max(rule).is_none_or(|max| found <= number(max));
            is_small && found >= number(rule.min)
        }),
        ParameterKind::OneOf(words) => words.contains(&text),
        ParameterKind::Ulid => Ulid::parse(text).is_some(),
        ParameterKind::Text | ParameterKind::Id | ParameterKind::ListOf(_) => true,
        ParameterKind::Page => false,
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
