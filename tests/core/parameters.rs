mod dates;

use quillgate::value::{Pairs, Scalar, Value};
use quillgate::{
    CreateAgentJob, DateBound, Endpoint, FeedbackStatuses, GetAgentJob, JobId, ListPageViews,
    Offset, PageSize, ProjectId, Prompt, Rule, SendMessage, ValidationError,
};
use serde_json::json;

const LIMIT: &str = "must be an integer from 1 to 250";
/// The description of a number that is not an exact integer.
pub const INEXACT_NUMBER: &str = "a number that is no exact integer";
const OFFSET: &str = "must be an integer from 0 to 9007199254740991";

pub fn query(pairs: &[(&str, &str)]) -> Pairs {
    let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
    Pairs::All(pairs.iter().map(owned).collect())
}

fn rejection<E: Endpoint>(params: &impl Value) -> ValidationError {
    E::parse(params).err().unwrap()
}

#[track_caller]
pub fn assert_rejected(error: &ValidationError, field: &str, rule: Rule, message: &str) {
    assert_eq!((error.field.as_ref(), error.rule), (field, rule));
    assert_eq!(error.message(), message);
    assert_eq!(error.to_string(), message);
}

#[track_caller]
fn assert_limit(error: &ValidationError, found: &str) {
    let message = format!("limit {LIMIT}, found {found}");
    assert_rejected(error, "limit", Rule::PAGE_SIZE, &message);
}

#[track_caller]
fn assert_offset(error: &ValidationError, found: &str) {
    let message = format!("offset {OFFSET}, found {found}");
    assert_rejected(error, "offset", Rule::OFFSET, &message);
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
    let absent = ListPageViews::default();
    let nulls = json!({"dateFrom": null, "dateTo": null, "limit": null, "offset": null});
    for params in [json!({}), nulls] {
        assert_eq!(ListPageViews::parse(&params).unwrap(), absent);
    }
    assert_eq!(ListPageViews::parse(&query(&[])).unwrap(), absent);
    assert_eq!(ListPageViews::parse(&Host::Absent).unwrap(), absent);
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
    let (most, over, huge) = ("é".repeat(32), "é".repeat(33), "x".repeat(100_000));
    for (text, found) in [
        ("a\r\nb\u{1b}[31m", "a\u{fffd}\u{fffd}b\u{fffd}[31m"),
        (&most, &most),
        (&over, &format!("{most}…")),
        (&huge, &format!("{}…", &huge[..32])),
    ] {
        let found = format!("\"{found}\"");
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
    let name = "acme";
    let expected = Scalar::Text(name.to_string());
    assert_eq!(json!({"a": "acme"}).member("a").scalar(), expected);
    assert_eq!(json!(["a"]).member("a").scalar(), Scalar::Absent);
    let expected = Scalar::Wire(name.to_string());
    assert_eq!(query(&[("a", "acme")]).member("a").scalar(), expected);
    let found = query(&[("a", "acme")]).member("a").member("a").scalar();
    assert_eq!(found, Scalar::Absent);
    assert_eq!(query(&[]).scalar().kind(), "an object");
}

#[test]
fn a_prompt_must_be_a_non_empty_string() {
    let no_text = "prompt must have at least one character, found empty text";
    for params in [
        json!({}),
        json!({"prompt": null}),
        json!(null),
        json!(["prompt"]),
    ] {
        let error = rejection::<CreateAgentJob>(&params);
        assert_rejected(&error, "prompt", Rule::Required, "prompt is required");
    }
    for (value, found) in [
        (json!(1), "a number"),
        (json!(false), "a boolean"),
        (json!(["x"]), "an array"),
        (json!({"text": "x"}), "an object"),
    ] {
        let error = rejection::<CreateAgentJob>(&json!({ "prompt": value }));
        let message = format!("prompt must be a string, found {found}");
        assert_rejected(&error, "prompt", Rule::Text, &message);
    }
    for error in [
        rejection::<CreateAgentJob>(&json!({"prompt": ""})),
        Prompt::new("").unwrap_err(),
    ] {
        assert_rejected(&error, "prompt", Rule::NotEmpty, no_text);
    }
    for text in ["x", " ", "\n", "🪶"] {
        assert_eq!(Prompt::new(text).unwrap().as_str(), text);
    }
}

#[test]
fn an_id_must_be_a_string_that_fits_in_a_path_segment() {
    const EMPTY: &str = "must have at least one character, found empty text";
    const DOTS: &str = "must not be \".\" or \"..\", found";
    for (id, rule, message) in [
        (json!(null), Rule::Required, "is required"),
        (json!("."), Rule::NotDotSegment, &format!("{DOTS} \".\"")),
        (json!(".."), Rule::NotDotSegment, &format!("{DOTS} \"..\"")),
        (json!(""), Rule::NotEmpty, EMPTY),
        (json!(7), Rule::Text, "must be a string, found a number"),
    ] {
        for error in [
            rejection::<GetAgentJob>(&json!({ "id": id })),
            rejection::<SendMessage>(&json!({ "id": id, "prompt": "x" })),
        ] {
            assert_rejected(&error, "id", rule, &format!("id {message}"));
        }
    }
}

#[test]
fn an_id_has_at_most_256_bytes() {
    for longest in ["a".repeat(256), "é".repeat(128)] {
        assert!(JobId::new(longest.as_str()).is_ok());
        assert!(ProjectId::new(longest.as_str()).is_ok());
        let id = format!("{longest}a");
        let text = "must be at most 256 bytes long in UTF-8, found 257 bytes";
        let error = JobId::new(id.as_str()).unwrap_err();
        assert_rejected(&error, "id", Rule::IdLength, &format!("id {text}"));
        let error = ProjectId::new(id.as_str()).unwrap_err();
        let message = format!("projectId {text}");
        assert_rejected(&error, "projectId", Rule::IdLength, &message);
        let error = rejection::<GetAgentJob>(&json!({ "id": id }));
        assert_rejected(&error, "id", Rule::IdLength, &format!("id {text}"));
    }
}

#[test]
fn each_status_of_feedback_must_be_known() {
    for statuses in ["pending", "pending,in_progress,resolved,dismissed"] {
        assert_eq!(FeedbackStatuses::new(statuses).unwrap().as_str(), statuses);
    }
    for statuses in ["", "pendng", "pending,", "pending, resolved", "Pending"] {
        let error = FeedbackStatuses::new(statuses).unwrap_err();
        assert_eq!(error.field, "status", "{statuses}");
        let expected = Rule::OneOf(&["pending", "in_progress", "resolved", "dismissed"]);
        assert_eq!(error.rule, expected);
    }
}

#[test]
fn a_limit_in_a_url_is_plain_digits_from_1_to_250() {
    for (text, rows) in [("1", 1), ("50", 50), ("250", 250), ("0007", 7)] {
        let list = ListPageViews::parse(&query(&[("limit", text)])).unwrap();
        assert_eq!(list.limit.map(PageSize::get), Some(rows));
    }
    for (text, found) in [
        ("0", "0"),
        ("251", "251"),
        ("9007199254740992", "9007199254740992"),
        ("10abc", "\"10abc\""),
        ("-1", "\"-1\""),
        ("+1", "\"+1\""),
        ("1e2", "\"1e2\""),
        ("10.0", "\"10.0\""),
        ("١", "\"١\""),
        ("", "\"\""),
        ("00000000000000005", "\"00000000000000005\""),
    ] {
        let error = rejection::<ListPageViews>(&query(&[("limit", text)]));
        assert_limit(&error, found);
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
        (json!(-1), "-1"),
        (json!(10.5), INEXACT_NUMBER),
        (json!(9_007_199_254_740_992_u64), INEXACT_NUMBER),
        (json!("50"), "a string"),
        (json!(true), "a boolean"),
        (json!([50]), "an array"),
        (json!({"valueOf": 50}), "an object"),
    ] {
        let error = rejection::<ListPageViews>(&json!({ "limit": value }));
        assert_limit(&error, found);
    }
}

#[test]
fn an_offset_in_a_url_is_plain_digits_up_to_the_maximum_safe_integer() {
    for (text, rows) in [
        ("0", 0),
        ("1", 1),
        ("9007199254740991", 9_007_199_254_740_991),
    ] {
        let list = ListPageViews::parse(&query(&[("offset", text)])).unwrap();
        assert_eq!(list.offset.map(Offset::get), Some(rows), "{text:?}");
    }
    for (text, found) in [
        ("9007199254740992", "9007199254740992"),
        ("90071992547409910", "\"90071992547409910\""),
    ] {
        let error = rejection::<ListPageViews>(&query(&[("offset", text)]));
        assert_offset(&error, found);
    }
}

#[test]
fn an_offset_in_json_is_an_integer_up_to_the_maximum_safe_integer() {
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
        (json!(i64::MIN), INEXACT_NUMBER),
        (json!(-0.5), INEXACT_NUMBER),
        (json!(9_007_199_254_740_992_u64), INEXACT_NUMBER),
    ] {
        let error = rejection::<ListPageViews>(&json!({ "offset": value }));
        assert_offset(&error, found);
    }
}

#[test]
fn numbers_from_the_host_that_are_not_exact_integers_are_rejected() {
    for number in [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MIN_POSITIVE,
        f64::MAX,
    ] {
        let error = rejection::<ListPageViews>(&host("limit", Host::Number(number)));
        assert_limit(&error, INEXACT_NUMBER);
        let error = rejection::<ListPageViews>(&host("offset", Host::Number(number)));
        assert_offset(&error, INEXACT_NUMBER);
    }
}

#[test]
fn a_page_number_converts_to_the_offset_after_all_earlier_pages() {
    for (page, size, offset) in [
        (1, 50, 0),
        (2, 50, 50),
        (17, 250, 4000),
        (1 << 53, 1, (1 << 53) - 1),
    ] {
        let found = Offset::of_page(page, size).unwrap();
        assert_eq!(found.get(), offset, "{page}");
    }
    for page in [0, u64::MAX] {
        let error = Offset::of_page(page, 250).unwrap_err();
        assert_offset(&error, "a page out of range");
    }
    let past = Offset::of_page((1 << 53) + 1, 1).unwrap_err();
    assert_offset(&past, "9007199254740992");
}
