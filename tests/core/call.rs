use quillgate::{
    Call, Endpoint, ListAgentJobs, ListPageViews, Millis, Operation, Rule, SendMessage,
    ValidationError,
};
use serde_json::{Value, json};

use crate::operations::project;
use crate::parameters::{INEXACT_NUMBER, assert_rejected, query};

fn parse(operation: Operation, params: &Value) -> Result<Call, ValidationError> {
    Call::parse(operation.declaration(), params)
}

pub fn call(operation: Operation, params: &Value) -> Call {
    parse(operation, params).unwrap()
}

fn views(params: &Value) -> Call {
    call(Operation::ListPageViews, params)
}

fn target(call: &Call) -> String {
    call.request(&project()).target
}

#[test]
fn an_unknown_parameter_is_rejected_by_name() {
    const CREATE: Operation = Operation::CreateAgentJob;
    const JOBS: Operation = Operation::ListAgentJobs;
    const VIEWS: Operation = Operation::ListPageViews;
    for (operation, params, field, hint) in [
        (CREATE, json!({ "prompt": "x", "id": "j" }), "id", ""),
        (CREATE, json!({ "Prompt": "x" }), "Prompt", "; use prompt"),
        (JOBS, json!({ "page": 1 }), "page", ""),
        (VIEWS, json!({ "cursor": "c" }), "cursor", ""),
        (
            VIEWS,
            json!({ "datefrom": 1 }),
            "datefrom",
            "; use dateFrom",
        ),
        // An option of the client, not of an operation.
        (VIEWS, json!({ "projectId": "x" }), "projectId", ""),
        // Rejected even when null.
        (VIEWS, json!({ "x": null }), "x", ""),
        (VIEWS, json!({ "": 1 }), "", ""),
    ] {
        let message = format!("{field} is not a parameter of this operation{hint}");
        let error = parse(operation, &params).unwrap_err();
        assert_rejected(&error, field, Rule::Unknown, &message);
    }
}

#[test]
fn a_page_number_is_sent_as_an_offset() {
    let last = json!({ "page": 9_007_199_254_740_991_u64, "limit": 1 });
    for (params, expected) in [
        (json!({ "page": 1 }), "?limit=50&offset=0"),
        (json!({ "page": 2 }), "?limit=50&offset=50"),
        (json!({ "page": 3, "limit": 20 }), "?limit=20&offset=40"),
        (last, "?limit=1&offset=9007199254740990"),
    ] {
        let call = views(&params);
        assert_eq!(target(&call), format!("/v1/analytics/acme/views{expected}"));
        assert_eq!(call.text("page"), None);
        let typed = ListPageViews::parse(&params).unwrap();
        assert_eq!(typed.to_call(), call);
    }
    let declaration = Operation::ListPageViews.declaration();
    let call = Call::parse(declaration, &query(&[("page", "3"), ("limit", "20")])).unwrap();
    assert_eq!(call.integer("offset"), Some(40));
}

#[test]
fn a_page_number_is_an_integer_from_1_to_the_maximum_safe_integer() {
    const PAGE: &str = "page must be an integer from 1 to 9007199254740991";
    for (value, found) in [
        (json!(0), "0"),
        (json!(1.5), INEXACT_NUMBER),
        (json!(9_007_199_254_740_992_u64), INEXACT_NUMBER),
        (json!("1"), "a string"),
        (json!([1]), "an array"),
    ] {
        let error = parse(Operation::ListPageViews, &json!({ "page": value })).unwrap_err();
        assert_eq!((error.field.as_ref(), error.rule.name()), ("page", "page"));
        assert_eq!(error.message(), format!("{PAGE}, found {found}"));
    }
}

#[test]
fn page_and_offset_are_mutually_exclusive() {
    for params in [
        json!({ "page": 1, "offset": 0 }),
        json!({ "page": 3, "limit": 20, "offset": 40 }),
    ] {
        let message = "page must not be combined with offset";
        let error = parse(Operation::ListPageViews, &params).unwrap_err();
        assert_rejected(&error, "page", Rule::NotWithOffset, message);
    }
    // A null offset counts as absent.
    let call = views(&json!({ "page": 2, "offset": null }));
    assert_eq!(call.integer("offset"), Some(50));
}

#[test]
fn debug_output_shows_argument_names_without_values() {
    let params = json!({ "id": "job_1", "prompt": "the merger is secret" });
    let call = call(Operation::SendMessage, &params);
    let expected = r#"agentJobs.sendMessage["id", "prompt"]"#;
    assert_eq!(format!("{call:?}"), expected);
    assert_eq!(format!("{call:#?}").matches("merger").count(), 0);
    assert_eq!(call.declaration(), Operation::SendMessage.declaration());
}

#[test]
fn converting_to_a_typed_call_requires_its_parameters() {
    let of_another = call(Operation::GetAgentJob, &json!({ "id": "job_1" }));
    let error = SendMessage::from_call(&of_another).unwrap_err();
    let expected = ("prompt", Rule::Required);
    assert_eq!((error.field.as_ref(), error.rule), expected);
}

#[test]
fn a_request_orders_its_arguments_as_declared() {
    let expected =
        "/v1/analytics/acme/views?dateFrom=2024-01-01&dateTo=2024-02-01&limit=5&offset=9";
    let pairs = [
        ("dateFrom", "2024-01-01"),
        ("dateTo", "2024-02-01"),
        ("limit", "5"),
        ("offset", "9"),
    ];
    let declaration = Operation::ListPageViews.declaration();
    for count in 0..pairs.len() {
        let mut rotated = pairs;
        rotated.rotate_left(count);
        let call = Call::parse(declaration, &query(&rotated)).unwrap();
        assert_eq!(target(&call), expected);
        rotated.reverse();
        let call = Call::parse(declaration, &query(&rotated)).unwrap();
        assert_eq!(target(&call), expected);
    }
    let names: Vec<_> = views(&json!({ "page": 2, "limit": 5, "dateTo": "2024-02-01" }))
        .arguments()
        .map(|(parameter, text)| (parameter.name, text.to_owned()))
        .collect();
    let expected = [("dateTo", "2024-02-01"), ("limit", "5"), ("offset", "5")];
    assert_eq!(names, expected.map(|(name, text)| (name, text.to_owned())));
}

#[test]
fn freezing_sets_the_open_end_of_every_operation_with_a_range() {
    let now = Millis(1_709_210_096_789);
    for operation in Operation::ALL.iter().copied() {
        let declaration = operation.declaration();
        let end = declaration.parameter("dateTo");
        if end.is_some_and(|end| !end.is_required) {
            let frozen = call(operation, &json!({})).freeze(now).unwrap();
            let end = Some("2024-02-29T12:30:00.000Z");
            assert_eq!(frozen.text("dateTo"), end, "{}", declaration.name);
        }
    }
    let jobs = ListAgentJobs::default().to_call();
    assert_eq!(jobs.clone().freeze(now).unwrap(), jobs);
    let given = views(&json!({ "dateTo": "2024-01-01" }));
    assert_eq!(given.clone().freeze(now).unwrap(), given);
    let frozen = views(&json!({})).freeze(now).unwrap();
    assert_eq!(frozen.clone().freeze(Millis(u64::MAX)).unwrap(), frozen);
}

#[test]
fn normalizing_rewrites_dates_and_nothing_else() {
    let call = views(&json!({
        "dateFrom": "2024-02-29T01:00+01:00", "dateTo": "2024-03-01T00:00:00.0000009Z", "limit": 7,
    }));
    let normalize = |call: &Call| call.clone().normalize().unwrap();
    let (normal, range) = normalize(&call);
    assert_eq!(normal.text("dateFrom"), Some("2024-02-29T00:00:00.000Z"));
    assert_eq!(normal.text("dateTo"), Some("2024-03-01T00:00:00.000Z"));
    assert_eq!(normal.text("limit"), Some("7"));
    assert_eq!(normalize(&normal).0, normal);
    assert_eq!(range, call.range().unwrap().normalize());
    assert_eq!(range, normal.range().unwrap());

    let days = views(&json!({ "dateFrom": "2024-02-29", "dateTo": "2024-03-01" }));
    assert_eq!(normalize(&days).0, days);
    // A prompt that looks like a date stays unchanged.
    let params = json!({ "prompt": "2024-02-29T00:00Z" });
    let create = self::call(Operation::CreateAgentJob, &params);
    assert_eq!(normalize(&create).0, create);
}

#[test]
fn pages_of_one_list_are_equal_without_their_window() {
    let range = json!({ "dateFrom": "2024-01-01" });
    for params in [
        json!({ "dateFrom": "2024-01-01", "limit": 5 }),
        json!({ "dateFrom": "2024-01-01", "limit": 5, "offset": 10 }),
        json!({ "dateFrom": "2024-01-01", "page": 9 }),
    ] {
        assert_eq!(views(&params).without_window(), views(&range));
    }
}
