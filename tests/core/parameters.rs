//! Which parameters are refused before anything is sent, by which rule and in which
//! words, from each source that values come from.

use std::borrow::Cow;

use quillgate::value::{Pairs, Scalar, Value};
use quillgate::{
    Call, CreateAgentJob, DateBound, DateRange, Endpoint, GetAgentJob, JobId, ListPageViews,
    Millis, Offset, Operation, PageSize, ProjectId, Prompt, Rule, SendMessage, ValidationError,
};
use serde_json::json;

const DAY_OR_TIME: &str = "must be a day and a time that exist";
const DATE: &str = "must be a date as YYYY-MM-DD or an ISO 8601 date-time";
const LIMIT: &str = "must be an integer from 1 to 250";
const OFFSET: &str = "must be an integer from 0 to 9007199254740991";

fn query(pairs: &[(&str, &str)]) -> Pairs {
    Pairs::All(
        pairs
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect(),
    )
}

fn refusal<E: Endpoint>(params: &impl Value) -> ValidationError {
    match E::parse(params) {
        Ok(_) => panic!("taken, where a refusal was expected"),
        Err(error) => error,
    }
}

#[track_caller]
fn assert_refused(error: &ValidationError, field: &str, rule: Rule, message: &str) {
    assert_eq!((error.field.as_ref(), error.rule), (field, rule));
    assert_eq!(error.message(), message);
    assert_eq!(error.to_string(), message);
}

/// A host whose values tell `undefined` and `null` apart, as JavaScript does.
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

    fn scalar(&self) -> Scalar<'_> {
        match self {
            Self::Call(..) => Scalar::Other("an object"),
            Self::Null => Scalar::Null,
            Self::Number(number) => Scalar::Number(*number),
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

// limit and offset

#[test]
fn a_limit_in_a_url_is_plain_digits_from_1_to_250() {
    for (text, rows) in [("1", 1), ("50", 50), ("250", 250), ("0007", 7)] {
        let list = ListPageViews::parse(&query(&[("limit", text)])).unwrap();
        assert_eq!(list.limit.map(PageSize::get), Some(rows));
    }
    for (text, found) in [
        ("0", "0"),
        ("251", "251"),
        ("256", "256"),
        ("257", "257"),
        ("9007199254740992", "9007199254740992"),
        ("10abc", "\"10abc\""),
        ("-1", "\"-1\""),
        ("+1", "\"+1\""),
        (" 5", "\" 5\""),
        ("5 ", "\"5 \""),
        ("1e2", "\"1e2\""),
        ("10.5", "\"10.5\""),
        ("10.0", "\"10.0\""),
        ("0x10", "\"0x10\""),
        ("١", "\"١\""),
        ("", "\"\""),
        ("00000000000000005", "\"00000000000000005\""),
        ("18446744073709551617", "\"18446744073709551617\""),
    ] {
        let error = refusal::<ListPageViews>(&query(&[("limit", text)]));
        assert_refused(
            &error,
            "limit",
            Rule::PAGE_SIZE,
            &format!("limit {LIMIT}, found {found}"),
        );
    }
}

#[test]
fn a_limit_in_json_is_an_integer_from_1_to_250() {
    for (value, rows) in [
        (json!(1), 1),
        (json!(250), 250),
        (json!(10.0), 10),
        (json!(1e2), 100),
    ] {
        let list = ListPageViews::parse(&json!({ "limit": value })).unwrap();
        assert_eq!(list.limit.map(PageSize::get), Some(rows));
    }
    for (value, found) in [
        (json!(0), "0"),
        (json!(251), "251"),
        (json!(257), "257"),
        (json!(-1), "-1"),
        (json!(10.5), "a number that is no exact integer"),
        (
            json!(9_007_199_254_740_992_u64),
            "a number that is no exact integer",
        ),
        (json!(u64::MAX), "a number that is no exact integer"),
        (json!(1e300), "a number that is no exact integer"),
        (json!("50"), "text"),
        (json!("10abc"), "text"),
        (json!(true), "a boolean"),
        (json!([50]), "an array"),
        (json!({"valueOf": 50}), "an object"),
    ] {
        let error = refusal::<ListPageViews>(&json!({ "limit": value }));
        assert_refused(
            &error,
            "limit",
            Rule::PAGE_SIZE,
            &format!("limit {LIMIT}, found {found}"),
        );
    }
}

#[test]
fn an_offset_in_a_url_is_plain_digits_up_to_2_to_the_53_less_1() {
    for (text, rows) in [
        ("0", 0),
        ("1", 1),
        ("9007199254740991", 9_007_199_254_740_991),
    ] {
        let list = ListPageViews::parse(&query(&[("offset", text)])).unwrap();
        assert_eq!(list.offset.map(Offset::get), Some(rows));
    }
    for (text, found) in [
        ("9007199254740992", "9007199254740992"),
        ("9999999999999999", "9999999999999999"),
        ("-1", "\"-1\""),
        ("-0", "\"-0\""),
        ("10abc", "\"10abc\""),
        (" 5", "\" 5\""),
        ("1e2", "\"1e2\""),
        ("0.5", "\"0.5\""),
        ("", "\"\""),
        ("90071992547409910", "\"90071992547409910\""),
    ] {
        let error = refusal::<ListPageViews>(&query(&[("offset", text)]));
        assert_refused(
            &error,
            "offset",
            Rule::OFFSET,
            &format!("offset {OFFSET}, found {found}"),
        );
    }
}

#[test]
fn an_offset_in_json_is_an_integer_up_to_2_to_the_53_less_1() {
    for (value, rows) in [
        (json!(0), 0),
        (json!(-0.0), 0),
        (json!(9_007_199_254_740_991_u64), 9_007_199_254_740_991),
    ] {
        let list = ListPageViews::parse(&json!({ "offset": value })).unwrap();
        assert_eq!(list.offset.map(Offset::get), Some(rows));
    }
    for (value, found) in [
        (json!(-1), "-1"),
        (json!(-9_007_199_254_740_991_i64), "-9007199254740991"),
        (json!(i64::MIN), "a number that is no exact integer"),
        (json!(10.5), "a number that is no exact integer"),
        (json!(-0.5), "a number that is no exact integer"),
        (
            json!(9_007_199_254_740_992_u64),
            "a number that is no exact integer",
        ),
        (json!("0"), "text"),
        (json!(false), "a boolean"),
    ] {
        let error = refusal::<ListPageViews>(&json!({ "offset": value }));
        assert_refused(
            &error,
            "offset",
            Rule::OFFSET,
            &format!("offset {OFFSET}, found {found}"),
        );
    }
}

#[test]
fn numbers_that_only_a_host_has_are_refused() {
    for number in [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MIN_POSITIVE,
        f64::MAX,
    ] {
        let found = "a number that is no exact integer";
        let error = refusal::<ListPageViews>(&host("limit", Host::Number(number)));
        assert_refused(
            &error,
            "limit",
            Rule::PAGE_SIZE,
            &format!("limit {LIMIT}, found {found}"),
        );
        let error = refusal::<ListPageViews>(&host("offset", Host::Number(number)));
        assert_refused(
            &error,
            "offset",
            Rule::OFFSET,
            &format!("offset {OFFSET}, found {found}"),
        );
    }
}

#[test]
fn typed_sizes_and_offsets_keep_the_same_rules() {
    for rows in [0, 251, 256, 257, 506, u64::MAX] {
        let error = PageSize::new(rows).unwrap_err();
        assert_refused(
            &error,
            "limit",
            Rule::PAGE_SIZE,
            &format!("limit {LIMIT}, found {rows}"),
        );
    }
    for rows in 1..=250 {
        assert_eq!(PageSize::new(rows).unwrap().get(), rows);
    }
    for rows in [1 << 53, u64::MAX] {
        let error = Offset::new(rows).unwrap_err();
        assert_refused(
            &error,
            "offset",
            Rule::OFFSET,
            &format!("offset {OFFSET}, found {rows}"),
        );
    }
    for rows in [0, (1 << 53) - 1] {
        assert_eq!(Offset::new(rows).unwrap().get(), rows);
    }
    assert_eq!(PageSize::MAX.get(), 250);
    assert_eq!(PageSize::DEFAULT.get(), 50);
    assert_eq!(Offset::default().get(), 0);
}

#[test]
fn a_page_counted_from_1_begins_after_all_pages_before_it() {
    for (page, size, offset) in [
        (1, 50, 0),
        (2, 50, 50),
        (17, 250, 4000),
        (1 << 53, 1, (1 << 53) - 1),
    ] {
        assert_eq!(Offset::of_page(page, size).unwrap().get(), offset);
    }
    for page in [0, u64::MAX] {
        let error = Offset::of_page(page, 250).unwrap_err();
        let message = format!("offset {OFFSET}, found a page out of range");
        assert_refused(&error, "offset", Rule::OFFSET, &message);
    }
    let past = Offset::of_page((1 << 53) + 1, 1).unwrap_err();
    assert_refused(
        &past,
        "offset",
        Rule::OFFSET,
        &format!("offset {OFFSET}, found 9007199254740992"),
    );
}

#[test]
fn the_page_after_the_last_countable_row_is_refused() {
    let last = Offset::new((1 << 53) - 250).unwrap();
    assert_eq!(last.after(249).unwrap().get(), (1 << 53) - 1);
    let error = last.after(250).unwrap_err();
    assert_refused(
        &error,
        "offset",
        Rule::OFFSET,
        &format!("offset {OFFSET}, found 9007199254740992"),
    );
}

// dates

#[test]
fn impossible_dates_are_refused_from_every_source() {
    for text in [
        "2024-02-30",
        "2023-02-29",
        "2024-13-01",
        "2100-02-29",
        "2024-00-01",
        "2024-04-31",
    ] {
        for field in ["dateFrom", "dateTo"] {
            let message = format!("{field} {DAY_OR_TIME}, found \"{text}\"");
            for error in [
                refusal::<ListPageViews>(&query(&[(field, text)])),
                refusal::<ListPageViews>(&json!({ field: text })),
                DateBound::new(field, text).unwrap_err(),
            ] {
                assert_refused(&error, field, Rule::CalendarDate, &message);
            }
        }
    }
}

#[test]
fn leap_days_are_taken_from_every_source() {
    for text in ["2024-02-29", "2000-02-29"] {
        for field in ["dateFrom", "dateTo"] {
            ListPageViews::parse(&query(&[(field, text)])).unwrap();
            ListPageViews::parse(&json!({ field: text })).unwrap();
            DateBound::new(field, text).unwrap();
        }
    }
}

#[test]
fn text_that_is_no_date_is_refused_from_every_source() {
    for text in ["yesterday", "", "2024-2-9", "01/02/2024"] {
        for field in ["dateFrom", "dateTo"] {
            let message = format!("{field} {DATE}, found \"{text}\"");
            for error in [
                refusal::<ListPageViews>(&query(&[(field, text)])),
                refusal::<ListPageViews>(&json!({ field: text })),
                DateBound::new(field, text).unwrap_err(),
            ] {
                assert_refused(&error, field, Rule::DateFormat, &message);
            }
        }
    }
}

#[test]
fn a_date_that_is_no_text_is_refused() {
    for (value, found) in [
        (json!(20_240_229), "a number"),
        (json!(true), "a boolean"),
        (json!(["2024-02-29"]), "an array"),
        (json!({}), "an object"),
    ] {
        for field in ["dateFrom", "dateTo"] {
            let error = refusal::<ListPageViews>(&json!({ field: value }));
            assert_refused(
                &error,
                field,
                Rule::Text,
                &format!("{field} must be text, found {found}"),
            );
        }
    }
}

#[test]
fn a_range_that_can_hold_nothing_is_refused_from_every_source() {
    for (from, to) in [
        ("2024-02-29", "2024-02-29"),
        ("2024-03-01", "2024-02-29"),
        ("2024-01-01T00:00:00Z", "2024-01-01T00:00Z"),
        ("2024-01-01T00:00+01:00", "2023-12-31T23:00Z"),
        ("2024-01-01T00:00:00.001", "2024-01-01T00:00"),
    ] {
        let message = format!("dateFrom must be before dateTo, found \"{from}\"");
        let bound = |field, text: &str| Some(DateBound::new(field, text).unwrap());
        for error in [
            refusal::<ListPageViews>(&query(&[("dateFrom", from), ("dateTo", to)])),
            refusal::<ListPageViews>(&json!({"dateFrom": from, "dateTo": to})),
            DateRange::new(bound("dateFrom", from), bound("dateTo", to)).unwrap_err(),
        ] {
            assert_refused(&error, "dateFrom", Rule::BeforeDateTo, &message);
        }
    }
}

#[test]
fn bounds_of_different_kinds_are_the_upstreams_to_compare() {
    let later = ["2024-02-29", "2024-02-29T00:00", "2024-02-29T00:00Z"];
    let earlier = ["2024-01-01", "2024-01-01T00:00", "2024-01-01T00:00Z"];
    for (at, from) in later.iter().enumerate() {
        for (other, to) in earlier.iter().enumerate() {
            let taken = ListPageViews::parse(&json!({"dateFrom": from, "dateTo": to})).is_ok();
            assert_eq!(taken, at != other, "{from} to {to}");
        }
    }
}

fn list(params: &serde_json::Value) -> Call {
    Call::parse(Operation::ListPageViews.declaration(), params).unwrap()
}

fn list_from(from: &serde_json::Value) -> Call {
    list(&json!({"dateFrom": from, "limit": 7, "offset": 3}))
}

#[test]
fn an_open_end_is_frozen_to_the_last_five_minutes_before_the_run() {
    for (now, end) in [
        (1_709_210_096_789, "2024-02-29T12:30:00.000Z"),
        (1_709_209_800_000, "2024-02-29T12:30:00.000Z"),
        (1_709_210_099_999, "2024-02-29T12:30:00.000Z"),
        (1_709_210_100_000, "2024-02-29T12:35:00.000Z"),
    ] {
        for from in [
            json!(null),
            json!("2024-02-29"),
            json!("2024-02-29T12:29:59.999Z"),
            json!("2024-02-29T12:29:59"),
        ] {
            let list = list_from(&from);
            let frozen = list.clone().freeze(Millis(now)).unwrap();
            assert_eq!(frozen.text("dateTo"), Some(end), "{from}");
            for name in ["dateFrom", "limit", "offset"] {
                assert_eq!(frozen.text(name), list.text(name));
            }
            let range = list.range().unwrap().freeze(Millis(now)).unwrap();
            assert_eq!(frozen.range().unwrap(), range);
        }
    }
}

#[test]
fn a_range_that_began_within_five_minutes_is_frozen_to_the_start_of_the_run() {
    for from in [
        "2024-02-29T12:30:00Z",
        "2024-02-29T12:30",
        "2024-02-29T12:34:56.788Z",
        "2024-03-01",
        "9999-12-31",
    ] {
        let frozen = list_from(&json!(from)).freeze(Millis(1_709_210_096_789));
        let end = "2024-02-29T12:34:56.789Z";
        assert_eq!(frozen.unwrap().text("dateTo"), Some(end), "{from}");
    }
}

#[test]
fn an_end_that_was_given_is_not_frozen() {
    let list = list(&json!({"dateFrom": "2024-01-01", "dateTo": "2024-02-01"}));
    assert_eq!(list.clone().freeze(Millis(0)).unwrap(), list);
}

#[test]
fn a_range_that_begins_at_the_moment_it_is_frozen_is_refused() {
    let list = list(&json!({"dateFrom": "1970-01-01T00:00:01Z"}));
    let error = list.clone().freeze(Millis(1000)).unwrap_err();
    let message = "dateFrom must be before dateTo, found \"1970-01-01T00:00:01Z\"";
    assert_refused(&error, "dateFrom", Rule::BeforeDateTo, message);
    assert!(list.freeze(Millis(1001)).is_ok());
}

// ids and prompts

#[test]
fn a_prompt_has_to_be_text_with_at_least_one_character() {
    for (params, rule, message) in [
        (json!({}), Rule::Required, "prompt is required"),
        (
            json!({"prompt": null}),
            Rule::Required,
            "prompt is required",
        ),
        (
            json!({"prompt": ""}),
            Rule::NotEmpty,
            "prompt must have at least one character, found empty text",
        ),
        (
            json!({"prompt": 1}),
            Rule::Text,
            "prompt must be text, found a number",
        ),
        (
            json!({"prompt": false}),
            Rule::Text,
            "prompt must be text, found a boolean",
        ),
        (
            json!({"prompt": ["x"]}),
            Rule::Text,
            "prompt must be text, found an array",
        ),
        (
            json!({"prompt": {"text": "x"}}),
            Rule::Text,
            "prompt must be text, found an object",
        ),
        (json!(null), Rule::Required, "prompt is required"),
        (json!("x"), Rule::Required, "prompt is required"),
        (json!(["prompt"]), Rule::Required, "prompt is required"),
        (json!(3), Rule::Required, "prompt is required"),
    ] {
        assert_refused(&refusal::<CreateAgentJob>(&params), "prompt", rule, message);
    }
    let error = Prompt::new("").unwrap_err();
    let message = "prompt must have at least one character, found empty text";
    assert_refused(&error, "prompt", Rule::NotEmpty, message);
    for text in ["x", " ", "\n", "🪶"] {
        assert_eq!(Prompt::new(text).unwrap().as_str(), text);
    }
}

#[test]
fn an_id_has_to_be_text_that_can_stand_in_a_path() {
    for (id, rule, message) in [
        (json!(null), Rule::Required, "id is required"),
        (
            json!(""),
            Rule::NotEmpty,
            "id must have at least one character, found empty text",
        ),
        (
            json!("."),
            Rule::NotDotSegment,
            "id must not be \".\" or \"..\", found \".\"",
        ),
        (
            json!(".."),
            Rule::NotDotSegment,
            "id must not be \".\" or \"..\", found \"..\"",
        ),
        (json!(7), Rule::Text, "id must be text, found a number"),
        (
            json!(["job_1"]),
            Rule::Text,
            "id must be text, found an array",
        ),
    ] {
        assert_refused(
            &refusal::<GetAgentJob>(&json!({"id": id})),
            "id",
            rule,
            message,
        );
        let both = json!({"id": id, "prompt": "x"});
        assert_refused(&refusal::<SendMessage>(&both), "id", rule, message);
    }
}

#[test]
fn ids_keep_the_same_rules_when_typed() {
    for (id, rule, found) in [
        (
            "",
            Rule::NotEmpty,
            "must have at least one character, found empty text",
        ),
        (
            ".",
            Rule::NotDotSegment,
            "must not be \".\" or \"..\", found \".\"",
        ),
        (
            "..",
            Rule::NotDotSegment,
            "must not be \".\" or \"..\", found \"..\"",
        ),
    ] {
        assert_refused(
            &JobId::new(id).unwrap_err(),
            "id",
            rule,
            &format!("id {found}"),
        );
        let error = ProjectId::new(id).unwrap_err();
        assert_refused(&error, "projectId", rule, &format!("projectId {found}"));
    }
}

#[test]
fn an_id_in_a_url_is_taken_as_text_even_when_it_looks_like_a_number() {
    let get = GetAgentJob::parse(&query(&[("id", "007")])).unwrap();
    assert_eq!(get, GetAgentJob::new(JobId::new("007").unwrap()));
    assert_refused(
        &refusal::<GetAgentJob>(&query(&[])),
        "id",
        Rule::Required,
        "id is required",
    );
}

#[test]
fn a_follow_up_needs_both_the_id_and_the_prompt() {
    let error = refusal::<SendMessage>(&json!({"prompt": "x"}));
    assert_refused(&error, "id", Rule::Required, "id is required");
    let error = refusal::<SendMessage>(&json!({"id": "job_1"}));
    assert_refused(&error, "prompt", Rule::Required, "prompt is required");
    SendMessage::parse(&json!({"id": "job_1", "prompt": "x"})).unwrap();
}

// what all of them have in common

#[test]
fn parameters_that_are_left_out_stay_left_out() {
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
fn a_hosts_null_is_not_the_same_as_leaving_out() {
    for (field, rule, message) in [
        (
            "dateFrom",
            Rule::Text,
            "dateFrom must be text, found null".to_owned(),
        ),
        (
            "dateTo",
            Rule::Text,
            "dateTo must be text, found null".to_owned(),
        ),
        (
            "limit",
            Rule::PAGE_SIZE,
            format!("limit {LIMIT}, found null"),
        ),
        (
            "offset",
            Rule::OFFSET,
            format!("offset {OFFSET}, found null"),
        ),
    ] {
        let error = refusal::<ListPageViews>(&host(field, Host::Null));
        assert_refused(&error, field, rule, &message);
    }
    let error = refusal::<CreateAgentJob>(&host("prompt", Host::Null));
    assert_refused(
        &error,
        "prompt",
        Rule::Text,
        "prompt must be text, found null",
    );
}

#[test]
fn the_first_refusal_is_that_of_the_first_parameter() {
    let mut params = json!({"dateFrom": "x", "dateTo": "x", "limit": 0, "offset": -1});
    for field in ["dateFrom", "dateTo", "limit", "offset"] {
        assert_eq!(refusal::<ListPageViews>(&params).field, field);
        params.as_object_mut().unwrap().remove(field);
    }
}

#[test]
fn what_was_found_is_quoted_short_and_without_control_characters() {
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
        let error = refusal::<ListPageViews>(&query(&[("limit", text)]));
        assert_eq!(error.found, found);
    }
}

#[test]
fn a_refused_prompt_is_never_quoted() {
    let error = refusal::<SendMessage>(&json!({"id": "job_1", "prompt": {"text": "merger"}}));
    assert!(!format!("{error:?} {error}").contains("merger"));
}

#[test]
fn only_the_members_of_an_object_are_members() {
    let name: Cow<'_, str> = Cow::Borrowed("acme");
    assert_eq!(
        json!({"a": "acme"}).member("a").scalar(),
        Scalar::Text(name.clone())
    );
    assert_eq!(json!(["a"]).member("a").scalar(), Scalar::Absent);
    assert_eq!(
        query(&[("a", "acme")]).member("a").scalar(),
        Scalar::Wire(name)
    );
    assert_eq!(
        query(&[("a", "acme")]).member("a").member("a").scalar(),
        Scalar::Absent
    );
    assert_eq!(query(&[]).scalar().kind(), "an object");
}

#[test]
fn a_querys_first_pair_of_a_name_counts() {
    let list = ListPageViews::parse(&query(&[("limit", "7"), ("limit", "9")])).unwrap();
    assert_eq!(list.limit.map(PageSize::get), Some(7));
}

#[test]
fn only_arrays_have_elements() {
    assert_eq!(json!([1, 2]).elements(), [json!(1), json!(2)]);
    assert_eq!(json!({"0": 1}).elements(), [json!(null); 0]);
    assert_eq!(query(&[("a", "b")]).elements().len(), 0);
}
