//! Query parameters and JSON bodies. The gateway rejects unknown, duplicate and malformed values.
//! It rebuilds the upstream request from the accepted values.

mod bodies;

use proptest::prelude::*;
use quillgate::{Operation, ProjectId, Request, ValidationError};
use quillgate_worker::http::content::{RequestValues, is_json};

const VIEWS: Operation = Operation::ListPageViews;
const CREATE: Operation = Operation::CreateAgentJob;
const MESSAGE: Operation = Operation::SendMessage;
const JOBS: Operation = Operation::ListAgentJobs;
const GET: Operation = Operation::GetAgentJob;

fn project() -> ProjectId {
    ProjectId::new("demo-docs").unwrap()
}

/// Returns the values of a path, with the job id `id` if any.
fn from_path(operation: Operation, id: Option<&str>) -> RequestValues {
    let mut segments = vec![("projectId", "demo-docs")];
    segments.extend(id.map(|id| ("id", id)));
    RequestValues::from_path(operation, segments).unwrap()
}

fn views(query: &str) -> Result<Request, ValidationError> {
    let values = from_path(VIEWS, None).with_query(Some(query))?;
    Ok(values.parse()?.request(&project()))
}

fn jobs(query: &str) -> Result<Request, ValidationError> {
    let values = from_path(JOBS, None).with_query(Some(query))?;
    Ok(values.parse()?.request(&project()))
}

#[track_caller]
fn assert_query_refused(query: &str, field: &str, rule: &str) {
    let error = match views(query) {
        Ok(request) => panic!("{query} became {}", request.target),
        Err(error) => error,
    };
    assert_eq!(
        (error.field.as_ref(), error.rule.name()),
        (field, rule),
        "{query}"
    );
}

#[test]
fn query_is_rebuilt_in_a_fixed_order() {
    for (query, expected) in [
        ("", ""),
        ("&&", ""),
        ("limit=5", "?limit=5"),
        ("&limit=5&", "?limit=5"),
        ("offset=0&limit=250", "?limit=250&offset=0"),
        ("%6cimit=%35", "?limit=5"),
        ("limit=005", "?limit=5"),
        ("offset=9007199254740991", "?offset=9007199254740991"),
        ("page=1", "?limit=50&offset=0"),
        ("page=3&limit=20", "?limit=20&offset=40"),
        ("p%61ge=2", "?limit=50&offset=50"),
        (
            "dateTo=2024-03-01&dateFrom=2024-02-29",
            "?dateFrom=2024-02-29&dateTo=2024-03-01",
        ),
        (
            "dateFrom=2024-02-29T12%3A00%3A00%2B01%3A00",
            "?dateFrom=2024-02-29T12%3A00%3A00%2B01%3A00",
        ),
        // Many clients do not encode the plus sign.
        (
            "dateFrom=2024-02-29T12:00:00+01:00",
            "?dateFrom=2024-02-29T12%3A00%3A00%2B01%3A00",
        ),
        (
            "dateFrom=2024-02-29T12:00%2001:00",
            "?dateFrom=2024-02-29T12%3A00%2B01%3A00",
        ),
    ] {
        let request = views(query).unwrap();
        assert_eq!(
            request.target,
            format!("/v1/analytics/demo-docs/views{expected}")
        );
        assert_eq!(request.body, None);
    }
}

#[test]
fn duplicate_parameter_is_rejected_in_any_encoding() {
    for query in [
        "limit=5&limit=5",
        "limit=5&limit=6",
        "limit=5&%6Cimit=6",
        "limit=5&offset=1&limit",
    ] {
        assert_query_refused(query, "limit", "once");
    }
}

#[test]
fn unknown_parameter_is_rejected() {
    for (query, field) in [
        ("x=1", "x"),
        ("x", "x"),
        ("=1", ""),
        ("Limit=5", "Limit"),
        ("limit%00=5", "limit\u{fffd}"),
        ("limit[]=5", "limit[]"),
        ("limit=5;offset=1&x", "x"),
        ("limit;offset=5", "limit;offset"),
        ("+limit=5", " limit"),
        ("projectId=other", "projectId"),
        ("id=j1", "id"),
        ("prompt=x", "prompt"),
        ("access_token=x", "access_token"),
        ("__proto__=x", "__proto__"),
    ] {
        assert_query_refused(query, field, "unknown");
    }
    let long = "n".repeat(10_000);
    assert_query_refused(&long, &long[..32], "unknown");
}

#[test]
fn malformed_percent_encoding_is_rejected() {
    assert_query_refused("limit=%", "limit", "text");
    assert_query_refused("limit=%ff", "limit", "text");
    assert_query_refused("%zz=1", "query", "text");
    assert_query_refused("%c0%ac=1", "query", "text");
}

#[test]
fn page_size_is_an_integer_from_1_to_250() {
    for value in [
        "0",
        "251",
        "10abc",
        "-1",
        "",
        "1e2",
        "+5",
        "%2B5",
        "%205",
        "5%20",
        "5.0",
        "0x10",
        "5%00",
        "5%0a",
        "%EF%BC%95",
        "%D9%A5",
        "NaN",
        "Infinity",
        "null",
        "5,6",
        "5;offset=1",
        "99999999999999999999",
        "00000000000000005",
        "18446744073709551617",
    ] {
        assert_query_refused(&format!("limit={value}"), "limit", "page-size");
    }
    assert_query_refused("limit", "limit", "page-size");
    for value in ["-1", "-0", "1.5", "9007199254740992", "", "1e3", "%202"] {
        assert_query_refused(&format!("offset={value}"), "offset", "offset");
    }
    for value in ["0", "-1", "1.5", "9007199254740992", "", "first", "%201"] {
        assert_query_refused(&format!("page={value}"), "page", "page");
    }
    assert_query_refused("page=9007199254740991", "offset", "offset");
    assert_query_refused("page=1&offset=0", "page", "not-with-offset");
    assert_query_refused("page=1&page=1", "page", "once");
}

#[test]
fn job_list_accepts_a_page_size_and_a_cursor() {
    for (query, expected) in [
        ("", ""),
        ("limit=1", "?limit=1"),
        ("cursor=a%2Bb&limit=100", "?limit=100&cursor=a%2Bb"),
        ("%63ursor=%61", "?cursor=a"),
    ] {
        let request = jobs(query).unwrap();
        assert_eq!(
            request.target,
            format!("/v2/agent/demo-docs/jobs{expected}")
        );
    }
    for (query, field, rule) in [
        ("limit=0", "limit", "page-size"),
        ("limit=101", "limit", "page-size"),
        ("limit=", "limit", "page-size"),
        ("limit=-1", "limit", "page-size"),
        ("limit=5%20", "limit", "page-size"),
        ("limit=1e2", "limit", "page-size"),
        ("limit=18446744073709551617", "limit", "page-size"),
        ("cursor=", "cursor", "not-empty"),
        ("cursor", "cursor", "not-empty"),
        ("cursor=a&cursor=a", "cursor", "once"),
        ("cursor=%", "cursor", "text"),
        ("cursor=%ff", "cursor", "text"),
        ("offset=5", "offset", "unknown"),
        ("page=1", "page", "unknown"),
        ("dateFrom=2024-01-01", "dateFrom", "unknown"),
        ("before=1", "before", "unknown"),
    ] {
        let error = jobs(query).unwrap_err();
        let found = (error.field.as_ref(), error.rule.name());
        assert_eq!(found, (field, rule), "{query}");
    }
}

#[test]
fn dates_must_exist_and_be_in_order() {
    for value in [
        "2024-02-30",
        "2023-02-29",
        "2024-13-01",
        "2024-00-10",
        "2024-01-00",
        "2024-01-01T24:00:00Z",
    ] {
        assert_query_refused(&format!("dateFrom={value}"), "dateFrom", "calendar-date");
    }
    for value in [
        "",
        "yesterday",
        "2024-1-1",
        "20240101",
        "2024-01-01 00:00",
        "2024-01-01T00:00:00++01:00",
        "2024-01-01T00:00:00+01:00+",
        "2024-01-01+01:00",
        "2024-01-01%00",
        "1704067200",
    ] {
        assert_query_refused(&format!("dateTo={value}"), "dateTo", "date-format");
    }
    for query in [
        "dateFrom=2024-01-02&dateTo=2024-01-01",
        "dateFrom=2024-01-01&dateTo=2024-01-01",
        "dateTo=2024-01-01T00:00:00Z&dateFrom=2024-01-01T01:00:00%2B01:00",
    ] {
        assert_query_refused(query, "dateFrom", "before-date-to");
    }
}

#[test]
fn rejection_of_a_query_names_the_correction() {
    let unknown = "is not a parameter of this operation";
    for (query, message) in [
        ("datefrom=x", format!("datefrom {unknown}; use dateFrom")),
        ("date_to=x", format!("date_to {unknown}; use dateTo")),
        ("dateForm=x", format!("dateForm {unknown}; use dateFrom")),
        ("Limit=5", format!("Limit {unknown}; use limit")),
        ("limits=5", format!("limits {unknown}; use limit")),
        ("lmit=5", format!("lmit {unknown}; use limit")),
        ("utm_source=mail", format!("utm_source {unknown}")),
        ("project_id=x", format!("project_id {unknown}")),
        (
            "dateTo=2024-02-29&dateFrom=2024-02-29",
            "dateFrom must be before dateTo, found \"2024-02-29\"; \
             dateTo is exclusive, so one day ends at 2024-03-01"
                .to_owned(),
        ),
    ] {
        assert_eq!(views(query).unwrap_err().message(), message, "{query}");
    }
}

#[test]
fn operations_without_parameters_reject_a_query() {
    for operation in [CREATE, MESSAGE] {
        assert!(from_path(operation, None).with_query(Some("")).is_ok());
        for query in ["prompt=x", "id=j1", "limit=5"] {
            let Err(error) = from_path(operation, None).with_query(Some(query)) else {
                panic!("{query} was taken by {operation:?}");
            };
            assert_eq!(error.rule.name(), "unknown");
        }
    }
}

#[test]
fn job_id_comes_only_from_the_path() {
    let read = |query| from_path(GET, Some("j%201")).with_query(query);
    let call = read(Some("&")).unwrap().parse().unwrap();
    let target = call.request(&project()).target;
    assert_eq!(target, "/v2/agent/demo-docs/job/j%201");
    for query in ["id=j2", "%69d=j2", "id", "wait=25", "prompt=x"] {
        let error = read(Some(query)).unwrap_err();
        assert_eq!(error.rule.name(), "unknown", "{query}");
    }
}

#[test]
fn only_application_json_is_json() {
    for good in [
        "application/json",
        "application/json; charset=utf-8",
        "APPLICATION/JSON",
        "application/json;",
        " application/json\t",
        "application/json ;x",
    ] {
        assert!(is_json(Some(good)), "{good}");
    }
    for other in [
        "",
        ";",
        "application/json, text/plain",
        "text/plain, application/json",
        "text/json",
        "application/jsonp",
        "application/problem+json",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "text/plain;application/json",
        "application/json\0",
        "application /json",
        "\"application/json\"",
        "*/*",
    ] {
        assert!(!is_json(Some(other)), "{other}");
    }
    assert!(!is_json(None));
}

proptest! {
    #[test]
    fn only_known_parameters_are_sent_upstream(query in "((limit|offset|page|dateFrom|dateTo|x|%6cimit)?=?[0-9%a+&;=#-]{0,6}&?){0,4}") {
        if let Ok(request) = views(&query) {
            let sent = request.target.strip_prefix("/v1/analytics/demo-docs/views").unwrap();
            let mut names: Vec<_> = sent.split(['?', '&']).skip(1).map(|pair| pair.split_once('=').unwrap().0).collect();
            prop_assert!(names.iter().all(|name| ["limit", "offset", "dateFrom", "dateTo"].contains(name)));
            names.dedup();
            prop_assert_eq!(names.len(), sent.matches('=').count());
        }
    }
}
