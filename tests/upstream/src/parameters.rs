//! Tables of parameters, and the check of what arrives against them.

use crate::date::Day;
use crate::ulid::Ulid;

/// A parameter of an operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) required: bool,
}

impl Parameter {
    pub(crate) const fn optional(name: &'static str, kind: Kind) -> Self {
        Self {
            name,
            kind,
            required: false,
        }
    }

    pub(crate) const fn required(name: &'static str, kind: Kind) -> Self {
        Self {
            name,
            kind,
            required: true,
        }
    }

    fn read(&self, sent: Option<&str>) -> Result<Option<Value>, String> {
        match (sent, self.kind) {
            (Some(text), kind) => match kind.read(text) {
                Some(value) => Ok(Some(value)),
                None => Err(format!("{} must be {}", self.name, kind.describe())),
            },
            (None, Kind::Integer { default, .. }) => Ok(Some(Value::Integer(default))),
            (None, _) if self.required => Err(format!("{} is required", self.name)),
            (None, _) => Ok(None),
        }
    }
}

/// Which values a parameter takes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Date,
    Integer {
        min: usize,
        max: Option<usize>,
        default: usize,
    },
    OneOf(&'static [&'static str]),
    Text,
    Ulid,
}

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
    /// Reads what the table names, and says of each value that is missing or wrong what
    /// it must be. Of several values of one name the first counts; other names are
    /// ignored.
    pub(crate) fn read(
        parameters: &[Parameter],
        pairs: &[(String, String)],
    ) -> (Self, Vec<String>) {
        let mut values = Vec::new();
        let mut problems = Vec::new();
        for parameter in parameters {
            let sent = pairs.iter().find(|(name, _)| name == parameter.name);
            match parameter.read(sent.map(|(_, text)| text.as_str())) {
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

impl Kind {
    fn read(self, text: &str) -> Option<Value> {
        match self {
            Self::Date => Day::parse(text).map(Value::Date),
            Self::Integer { min, max, .. } => whole_number(text)
                .filter(|number| *number >= min && max.is_none_or(|max| *number <= max))
                .map(Value::Integer),
            Self::OneOf(words) => words.contains(&text).then(|| Value::Text(text.to_owned())),
            Self::Text => Some(Value::Text(text.to_owned())),
            Self::Ulid => Ulid::parse(text).map(|_| Value::Text(text.to_owned())),
        }
    }

    /// What a value must be, as an error's message goes on.
    fn describe(self) -> String {
        match self {
            Self::Date => "a valid date".to_owned(),
            Self::Integer {
                min,
                max: Some(max),
                ..
            } => format!("an integer from {min} to {max}"),
            Self::Integer { min, max: None, .. } => format!("an integer of at least {min}"),
            Self::OneOf(words) => format!("one of {}", words.join(", ")),
            Self::Text => "text".to_owned(),
            Self::Ulid => "a ULID".to_owned(),
        }
    }
}

/// Digits only; more than fit into a number are as good as the largest.
fn whole_number(text: &str) -> Option<usize> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: [Parameter; 6] = [
        Parameter::optional("day", Kind::Date),
        Parameter::optional(
            "limit",
            Kind::Integer {
                min: 1,
                max: Some(250),
                default: 50,
            },
        ),
        Parameter::optional(
            "offset",
            Kind::Integer {
                min: 0,
                max: None,
                default: 0,
            },
        ),
        Parameter::optional("source", Kind::OneOf(&["agent", "page"])),
        Parameter::optional("cursor", Kind::Text),
        Parameter::required("id", Kind::Ulid),
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
}
