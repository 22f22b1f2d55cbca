//! Validation of parameters from each source, with the rule and message of each rejection.

mod dates;
mod paging;
mod texts;

use std::borrow::Cow;

use quillgate::value::{Pairs, Scalar, Value};
use quillgate::{
    CreateAgentJob, DateBound, Endpoint, ListPageViews, Rule, SendMessage, ValidationError,
};
use serde_json::json;

const LIMIT: &str = "must be an integer from 1 to 250";
/// The description of a number that is not an exact integer.
pub const INEXACT_NUMBER: &str = "a number that is no exact integer";
const OFFSET: &str = "must be an integer from 0 to 9007199254740991";

fn query(pairs: &[(&str, &str)]) -> Pairs {
    Pairs::All(
        pairs
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect(),
    )
}

fn rejection<E: Endpoint>(params: &impl Value) -> ValidationError {
    match E::parse(params) {
        Ok(_) => panic!("accepted invalid parameters"),
        Err(error) => error,
    }
}

#[track_caller]
fn assert_rejected(error: &ValidationError, field: &str, rule: Rule, message: &str) {
    assert_eq!((error.field.as_ref(), error.rule), (field, rule));
    assert_eq!(error.message(), message);
    assert_eq!(error.to_string(), message);
}

/// Host values that distinguish `undefined` from `null`, as JavaScript does.
enum Host {
    Call(&'static str, Box<Host>),
    Null,
    Number(f64),
    Absent,
}

impl Value for Host {
    fn member(&self, name: &'static str) -> Self {
        match self {
            Self::Call(field, value) if *field == name => match **value {
                Self::Null => Self::Null,
                Self::Number(number) => Self::Number(number),
                Self::Call(..) | Self::Absent => Self::Absent,
            },
            _ => Self::Absent,
        }
    }

    fn scalar(self) -> Scalar {
        match self {
            Self::Call(..) => Scalar::Other("an object"),
            Self::Null => Scalar::Null,
            Self::Number(number) => Scalar::Number(number),
            Self::Absent => Scalar::Absent,
        }
    }

    fn elements(&self) -> Vec<Self> {
        Vec::new()
    }
}

fn host(field: &'static str, value: Host) -> Host {
    Host::Call(field, Box::new(value))
}

#[test]
fn absent_parameters_stay_absent() {
    for params in [
        json!({}),
        json!({"dateFrom": null, "dateTo": null, "limit": null, "offset": null}),
    ] {
        assert_eq!(
            ListPageViews::parse(&params).unwrap(),
            ListPageViews::default()
        );
    }
    assert_eq!(
        ListPageViews::parse(&query(&[])).unwrap(),
        ListPageViews::default()
    );
    assert_eq!(
        ListPageViews::parse(&Host::Absent).unwrap(),
        ListPageViews::default()
    );
}

#[test]
fn a_null_from_the_host_does_not_count_as_absent() {
    for (field, rule, expected) in [
        ("dateFrom", Rule::Text, "must be a string"),
        ("dateTo", Rule::Text, "must be a string"),
        ("limit", Rule::PAGE_SIZE, LIMIT),
        ("offset", Rule::OFFSET, OFFSET),
    ] {
        let error = rejection::<ListPageViews>(&host(field, Host::Null));
        let message = format!("{field} {expected}, found null");
        assert_rejected(&error, field, rule, &message);
    }
    let error = rejection::<CreateAgentJob>(&host("prompt", Host::Null));
    let message = "prompt must be a string, found null";
    assert_rejected(&error, "prompt", Rule::Text, message);
}

#[test]
fn a_rejected_value_is_quoted_truncated_and_without_control_characters() {
    for (text, found) in [
        (
            "a\r\nb\u{1b}[31m",
            "\"a\u{fffd}\u{fffd}b\u{fffd}[31m\"".to_owned(),
        ),
        ("é".repeat(32).as_str(), format!("\"{}\"", "é".repeat(32))),
        ("é".repeat(33).as_str(), format!("\"{}…\"", "é".repeat(32))),
        (
            "x".repeat(100_000).as_str(),
            format!("\"{}…\"", "x".repeat(32)),
        ),
    ] {
        assert_eq!(DateBound::new("dateTo", text).unwrap_err().found, found);
        let error = rejection::<ListPageViews>(&query(&[("limit", text)]));
        assert_eq!(error.found, found);
    }
}

#[test]
fn a_rejected_prompt_is_never_quoted() {
    let error = rejection::<SendMessage>(&json!({"id": "job_1", "prompt": {"text": "merger"}}));
    assert!(!format!("{error:?} {error}").contains("merger"));
}

#[test]
fn only_objects_have_members() {
    let name: Cow<'_, str> = Cow::Borrowed("acme");
    assert_eq!(
        json!({"a": "acme"}).member("a").scalar(),
        Scalar::Text(name.to_string())
    );
    assert_eq!(json!(["a"]).member("a").scalar(), Scalar::Absent);
    assert_eq!(
        query(&[("a", "acme")]).member("a").scalar(),
        Scalar::Wire(name.to_string())
    );
    assert_eq!(
        query(&[("a", "acme")]).member("a").member("a").scalar(),
        Scalar::Absent
    );
    assert_eq!(query(&[]).scalar().kind(), "an object");
}
