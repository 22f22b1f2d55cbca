//! Query parameters and JSON bodies.

mod bodies;

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
        ("cursor=", "cursor", "not-empty"),
        ("cursor=a&cursor=a", "cursor", "once"),
        ("cursor=%ff", "cursor", "text"),
        ("offset=5", "offset", "unknown"),
    ] {
        let error = jobs(query).unwrap_err();
        let found = (error.field.as_ref(), error.rule.name());
        assert_eq!(found, (field, rule), "{query}");
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
        "application/json ;x",
    ] {
        assert!(is_json(Some(good)), "{good}");
    }
    for other in [
        "",
        "application/json, text/plain",
        "application/jsonp",
        "application/problem+json",
        "application/x-www-form-urlencoded",
        "text/plain;application/json",
        "application/json\0",
        "\"application/json\"",
    ] {
        assert!(!is_json(Some(other)), "{other}");
    }
    assert!(!is_json(None));
}
