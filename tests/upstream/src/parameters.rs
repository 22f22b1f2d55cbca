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

#[cfg(test)]
mod tests {
    use quillgate::declaration::ParameterIn;

    use super::*;

    const fn optional(name: &'static str, kind: ParameterKind) -> Parameter {
        Parameter::optional(name, ParameterIn::Query, kind)
    }

    const PARAMETERS: [Parameter; 7] = [
        optional("day", ParameterKind::Date),
        optional(
            "limit",
            ParameterKind::Integer {
                rule: &IntegerRule::PAGE_SIZE,
                default: 50,
            },
        ),
        optional(
            "offset",
            ParameterKind::Integer {
                rule: &IntegerRule::OFFSET,
                default: 0,
            },
        ),
        optional("page", ParameterKind::Page),
        optional("source", ParameterKind::OneOf(&["agent", "page"])),
        optional("cursor", ParameterKind::Text),
        Parameter {
            is_required: true,
            ..Parameter::optional("id", ParameterIn::Path, ParameterKind::Ulid)
        },
    ];
    const ID: (&str, &str) = ("id", "01ARZ3NDEKTSV4RRFFQ69G5FAV");

    fn check(query: &[(&str, &str)]) -> Result<Arguments, Vec<String>> {
        let pairs: Vec<_> = query
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let (arguments, problems) = Arguments::read(&PARAMETERS, &pairs);
        if problems.is_empty() {
            Ok(arguments)
        } else {
            Err(problems)
        }
    }

    #[test]
    fn values_are_read_by_name_and_defaults_are_applied() {
        let query = [ID, ("day", "2024-01-02"), ("source", "page"), ("x", "y")];
        let arguments = check(&query).expect("valid");
        assert_eq!(arguments.date("day"), Day::parse("2024-01-02"));
        assert_eq!(arguments.integer("limit"), Some(50));
        assert_eq!(arguments.integer("offset"), Some(0));
        assert_eq!(arguments.text("source"), Some("page"));
        assert_eq!(arguments.text("id"), Some(ID.1));
        assert_eq!(
            (arguments.text("cursor"), arguments.text("x")),
            (None, None)
        );
    }

    #[test]
    fn every_problem_is_reported_with_the_rule_of_its_kind() {
        let query = [
            ("day", "2024-02-30"),
            ("limit", "0"),
            ("offset", "-1"),
            ("source", "Agent"),
        ];
        let expected = [
            "day must be a valid date",
            "limit must be an integer from 1 to 250",
            "offset must be an integer of at least 0",
            "source must be one of agent, page",
            "id is required",
        ];
        assert_eq!(check(&query), Err(expected.map(str::to_owned).to_vec()));
        let no_ulid = vec!["id must be a ULID".to_owned()];
        assert_eq!(check(&[("id", "x")]), Err(no_ulid));
    }

    #[test]
    fn numbers_are_integers_within_their_bounds() {
        for (name, value) in [
            ("limit", "251"),
            ("limit", ""),
            ("limit", "1.0"),
            ("limit", "+5"),
            ("limit", "1e2"),
            ("limit", "99999999999999999999999"),
            ("offset", ""),
            ("offset", "0x1"),
        ] {
            assert!(check(&[ID, (name, value)]).is_err(), "{name}={value}");
        }
        let bounds = [ID, ("limit", "250"), ("offset", "99999999999999999999999")];
        assert!(check(&bounds).is_ok());
    }

    #[test]
    fn the_first_of_several_values_wins() {
        let arguments = check(&[ID, ("limit", "1"), ("limit", "x")]).expect("valid");
        assert_eq!(arguments.integer("limit"), Some(1));
    }

    #[test]
    fn the_page_parameter_is_ignored() {
        for page in ["2", "0", "x"] {
            let arguments = check(&[ID, ("page", page)]).expect("valid");
            assert_eq!(arguments.integer("page"), None);
            assert_eq!(arguments.integer("offset"), Some(0));
        }
    }
}
