//! The check of what arrives against the core's declarations of parameters.

use quillgate::declaration::{Parameter, ParameterKind};
use quillgate::error::IntegerRule;
use quillgate::text::MAX_SAFE_INTEGER;

use crate::date::Day;
use crate::ulid::Ulid;

/// A value that its parameter takes.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Value {
    Date(Day),
    Integer(usize),
    Text(String),
}

/// The values of a request, those of the table that were sent or have a default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Arguments(Vec<(&'static str, Value)>);

impl Arguments {
    /// Reads what is declared, and says of each value that is missing or wrong what
    /// it must be. Of several values of one name the first counts; other names are
    /// ignored, and so is `page`, which Quillgate sends as `offset`.
    pub(crate) fn read(
        parameters: &[Parameter],
        pairs: &[(String, String)],
    ) -> (Self, Vec<String>) {
        let mut values = Vec::new();
        let mut problems = Vec::new();
        for parameter in parameters {
            let sent = pairs.iter().find(|(name, _)| name == parameter.name);
            match read(parameter, sent.map(|(_, text)| text.as_str())) {
                Ok(value) => values.extend(value.map(|value| (parameter.name, value))),
                Err(problem) => problems.push(problem),
            }
        }
        (Self(values), problems)
    }

    /// A date that was sent.
    pub(crate) fn date(&self, name: &str) -> Option<Day> {
        match self.value(name)? {
            Value::Date(day) => Some(*day),
            Value::Integer(_) | Value::Text(_) => None,
        }
    }

    /// A number that was sent or its default; `None` when the table has no such one.
    pub(crate) fn integer(&self, name: &str) -> Option<usize> {
        match self.value(name)? {
            Value::Integer(number) => Some(*number),
            Value::Date(_) | Value::Text(_) => None,
        }
    }

    /// A text, a word or a ULID that was sent.
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

fn read(parameter: &Parameter, sent: Option<&str>) -> Result<Option<Value>, String> {
    let name = parameter.name;
    match (parameter.kind, sent) {
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

/// That text and ids are not empty is Quillgate's own rule: the platform takes any text.
fn read_value(kind: ParameterKind, text: &str) -> Option<Value> {
    let own = || Value::Text(text.to_owned());
    match kind {
        ParameterKind::Date => Day::parse(text).map(Value::Date),
        ParameterKind::Integer { rule, .. } => whole_number(text)
            .filter(|found| *found >= number(rule.min))
            .filter(|found| largest(rule).is_none_or(|most| *found <= number(most)))
            .map(Value::Integer),
        ParameterKind::OneOf(words) => words.contains(&text).then(own),
        ParameterKind::Ulid => Ulid::parse(text).map(|_| own()),
        ParameterKind::Text | ParameterKind::Id => Some(own()),
        ParameterKind::Page => None,
    }
}

/// What a value must be, as an error's message goes on.
fn describe(kind: ParameterKind) -> String {
    match kind {
        ParameterKind::Date => "a valid date".to_owned(),
        ParameterKind::Integer { rule, .. } => match largest(rule) {
            Some(most) => format!("an integer from {} to {most}", rule.min),
            None => format!("an integer of at least {}", rule.min),
        },
        ParameterKind::OneOf(words) => format!("one of {}", words.join(", ")),
        ParameterKind::Text | ParameterKind::Id => "text".to_owned(),
        ParameterKind::Ulid => "a ULID".to_owned(),
        ParameterKind::Page => "a page".to_owned(),
    }
}

/// The platform's own maximum: that of what JSON carries exactly is Quillgate's.
fn largest(rule: &IntegerRule) -> Option<u64> {
    (rule.max < MAX_SAFE_INTEGER).then_some(rule.max)
}

fn number(declared: u64) -> usize {
    usize::try_from(declared).unwrap_or(usize::MAX)
}

/// Digits only; more than fit into a number are as good as the largest.
fn whole_number(text: &str) -> Option<usize> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use quillgate::declaration::Place;

    use super::*;

    const fn optional(name: &'static str, kind: ParameterKind) -> Parameter {
        Parameter::optional(name, Place::Query, kind)
    }

    const TABLE: [Parameter; 7] = [
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
            ..Parameter::optional("id", Place::Path, ParameterKind::Ulid)
        },
    ];
    const ID: (&str, &str) = ("id", "01ARZ3NDEKTSV4RRFFQ69G5FAV");

    fn check(query: &[(&str, &str)]) -> Result<Arguments, Vec<String>> {
        let pairs: Vec<_> = query
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let (arguments, problems) = Arguments::read(&TABLE, &pairs);
        if problems.is_empty() {
            Ok(arguments)
        } else {
            Err(problems)
        }
    }

    #[test]
    fn values_are_read_by_name_and_defaults_filled_in() {
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
    fn every_problem_is_named_in_the_words_of_its_kind() {
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
    fn numbers_are_whole_and_in_bounds() {
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
    fn of_several_values_the_first_counts() {
        let arguments = check(&[ID, ("limit", "1"), ("limit", "x")]).expect("valid");
        assert_eq!(arguments.integer("limit"), Some(1));
    }

    #[test]
    fn a_page_is_ignored_since_the_platform_does_not_know_it() {
        for page in ["2", "0", "x"] {
            let arguments = check(&[ID, ("page", page)]).expect("valid");
            assert_eq!(arguments.integer("page"), None);
            assert_eq!(arguments.integer("offset"), Some(0));
        }
    }
}
