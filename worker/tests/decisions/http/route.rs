//! Routing of paths to operations. The router finds the operation and the path values for a method
//! and a path. A path must match the template of an operation exactly.

use proptest::prelude::*;
use quillgate::encode::percent_encode;
use quillgate::{Declaration, Method, Operation, Scope};
use quillgate_worker::http::route::{decode_segment, find, join_methods};

const CREATE: &str = "/v2/agent/demo-docs/job";
const GET: &str = "/v2/agent/demo-docs/job/j1";
const MESSAGE: &str = "/v2/agent/demo-docs/job/j1/message";
const JOBS: &str = "/v2/agent/demo-docs/jobs";
const EVENTS: &str = "/v2/agent/demo-docs/job/j1/events";
const VIEWS: &str = "/v1/analytics/demo-docs/views";

fn operations() -> impl Iterator<Item = &'static Declaration> {
    Operation::ALL
        .iter()
        .map(|operation| operation.declaration())
}

#[test]
fn each_operation_is_found_with_its_path_values() {
    for (method, path, operation, expected) in [
        (
            "POST",
            CREATE,
            "agentJobs.create",
            vec![("projectId", "demo-docs")],
        ),
        (
            "GET",
            GET,
            "agentJobs.get",
            vec![("projectId", "demo-docs"), ("id", "j1")],
        ),
        (
            "POST",
            MESSAGE,
            "agentJobs.sendMessage",
            vec![("projectId", "demo-docs"), ("id", "j1")],
        ),
        (
            "GET",
            JOBS,
            "agentJobs.list",
            vec![("projectId", "demo-docs")],
        ),
        (
            "GET",
            EVENTS,
            "agentJobs.events",
            vec![("projectId", "demo-docs"), ("id", "j1")],
        ),
        (
            "GET",
            "/v2/agent/demo-docs/jobs/events",
            "agentJobs.allEvents",
            vec![("projectId", "demo-docs")],
        ),
        (
            "GET",
            "/v2/agent/demo-docs/job/j1/record",
            "agentJobs.record",
            vec![("projectId", "demo-docs"), ("id", "j1")],
        ),
        (
            "DELETE",
            "/v2/agent/demo-docs/job/j1/record",
            "agentJobs.deleteRecord",
            vec![("projectId", "demo-docs"), ("id", "j1")],
        ),
        (
            "GET",
            VIEWS,
            "analytics.views",
            vec![("projectId", "demo-docs")],
        ),
    ] {
        let route = find(method, path).unwrap();
        assert_eq!(route.operation.declaration().name, operation);
        assert_eq!(route.segments, expected);
    }
}

#[test]
fn path_values_are_returned_undecoded() {
    for segment in [
        "%2e%2e", "..", "a%2Fb", "a;b=c", "*", "a b", "ü", "message", "events", "job", "jobs",
    ] {
        for rest in ["", "/events"] {
            let path = format!("/v2/agent/{segment}/job/{segment}{rest}");
            let route = find("GET", &path).unwrap();
            assert_eq!(route.segments, [("projectId", segment), ("id", segment)]);
        }
    }
}

#[test]
fn gateway_operations_are_in_the_core_table() {
    let events = Operation::StreamAgentJobEvents.declaration();
    assert_eq!(events.name, "agentJobs.events");
    assert_eq!(
        (events.method, events.scope),
        (Method::Get, Scope::ReadJobs)
    );
    let record = Operation::DeleteAgentJobRecord.declaration();
    let expected = (Method::Delete, Scope::Operate);
    assert_eq!((record.method, record.scope), expected);
}

#[test]
fn operations_have_unique_names_and_routes() {
    for operation in operations() {
        let alike = |name, method, path| {
            operation.name == name || (operation.method == method && operation.path == path)
        };
        let count = operations().filter(|other| alike(other.name, other.method, other.path));
        assert_eq!(count.count(), 1, "{}", operation.name);
        let found = find(operation.method.as_str(), operation.path).unwrap();
        assert_eq!(found.operation.declaration().name, operation.name);
    }
}

#[test]
fn path_must_match_an_operation_exactly() {
    for path in [
        "",
        "/",
        "*",
        "v2/agent/demo-docs/job",
        "/v2/agent/demo-docs/job/",
        "/v2/agent/demo-docs/job//",
        "/v2/agent/demo-docs/job//message",
        "/v2/agent/demo-docs/job/j1/",
        "/v2/agent/demo-docs/job/j1/message/",
        "/v2/agent/demo-docs/job/j1/messages",
        "/v2/agent/demo-docs/job/j1/x/message",
        "/v2/agent/demo-docs/job/j1/event",
        "/v2/agent/demo-docs/job/j1/events/",
        "/v2/agent/demo-docs/job/j1/events/1",
        "/v2/agent/demo-docs/job/j1/Events",
        "/v2/agent/demo-docs/job/j1/%65vents",
        "/v2/agent/demo-docs/job/j1/events%00",
        "/v2/agent/demo-docs/job/j1;x/events;y",
        "/v2/agent/demo-docs/job/j1/message/events",
        "/v2/agent/demo-docs/job//events",
        "/v2/agent//job/j1/events",
        "/v2/agent/demo-docs/jobs/",
        "/v2/agent/demo-docs/jobs/j1",
        "/v2/agent/demo-docs/jobs/j1/events",
        "/v2/agent/demo-docs/Jobs",
        "/v2/agent/demo-docs/job%73",
        "/v2/agent/demo-docs/jobs;limit=5",
        "/v2/agent/demo-docs/jobs%3flimit=5",
        "/v2/agent//jobs",
        "/v2/agent/jobs",
        "/v1/agent/demo-docs/jobs",
        "/v2/agent//job",
        "//v2/agent/demo-docs/job",
        "/v2//agent/demo-docs/job",
        "/./v2/agent/demo-docs/job",
        "/x/../v2/agent/demo-docs/job",
        "/v2/agent/demo-docs/../demo-docs/job",
        "/v2/agent/demo-docs/./job",
        "/v2/agent/demo-docs/%6aob",
        "/%76%32/agent/demo-docs/job",
        "/v2%2fagent/demo-docs/job",
        "/v2/agent/demo-docs%2fjob",
        "/v2/agent/demo-docs/job;x=1",
        "/v2;x=1/agent/demo-docs/job",
        "/v2/agent/demo-docs/job.json",
        "/v2/agent/demo-docs/job%20",
        "/v2/agent/demo-docs/job%00",
        "/v2/agent/demo-docs/job ",
        "/v2/agent/demo-docs/Job",
        "/V2/agent/demo-docs/job",
        "/v2/AGENT/demo-docs/job",
        "\\v2\\agent\\demo-docs\\job",
        "/v2/agent\\demo-docs\\job",
        "/v3/agent/demo-docs/job",
        "/v1/agent/demo-docs/job",
        "/v2/analytics/demo-docs/views",
        "/v1/analytics/demo-docs/views/exports",
        "/v1/analytics/demo-docs/referrers",
        "/prefix/v2/agent/demo-docs/job",
        "/v2/agent/{projectId}",
    ] {
        for method in ["GET", "POST", "DELETE", "OPTIONS"] {
            assert_eq!(find(method, path).unwrap_err(), [""; 0], "{path}");
        }
    }
}

#[test]
fn wrong_method_is_rejected_with_the_allowed_ones() {
    for (path, allow, others) in [
        (CREATE, "POST, OPTIONS", ["GET", "HEAD"]),
        (GET, "GET, HEAD, OPTIONS", ["POST", "DELETE"]),
        (MESSAGE, "POST, OPTIONS", ["GET", "PATCH"]),
        (JOBS, "GET, HEAD, OPTIONS", ["POST", "DELETE"]),
        (EVENTS, "GET, HEAD, OPTIONS", ["POST", "PUT"]),
        (VIEWS, "GET, HEAD, OPTIONS", ["POST", "PUT"]),
    ] {
        for method in others
            .into_iter()
            .chain(["TRACE", "OPTIONS", "get", "Post", "", "GET "])
        {
            assert_eq!(join_methods(&find(method, path).unwrap_err()), allow);
        }
    }
}

#[test]
fn allowed_methods_of_a_path_are_found() {
    let find_methods = |path| find("OPTIONS", path).unwrap_err();
    assert_eq!(find_methods(CREATE), ["POST"]);
    for path in [GET, VIEWS, JOBS, EVENTS] {
        assert_eq!(find_methods(path), ["GET", "HEAD"], "{path}");
        let operation = |method| find(method, path).map(|route| route.operation).ok();
        assert!(operation("HEAD").is_some(), "{path}");
        assert_eq!(operation("HEAD"), operation("GET"), "{path}");
    }
    assert_eq!(find_methods(MESSAGE), ["POST"]);
    for path in ["/healthz", "/openapi.json"] {
        assert_eq!(find_methods(path), [""; 0], "{path}");
    }
    assert_eq!(join_methods(&["GET"]), "GET, OPTIONS");
    assert_eq!(join_methods(&["GET", "POST"]), "GET, POST, OPTIONS");
}

#[test]
fn ambiguous_path_segment_is_rejected() {
    for segment in [
        "%2f",
        "a%2Fb",
        "..%2f..",
        "%5c",
        "a%5Cb",
        "\\",
        "%25",
        "%252f",
        "%252e%252e",
        "%3f",
        "%3Fx=1",
        "%23",
        "#",
        "%00",
        "a%00",
        "%0a",
        "%0d%0aX-Injected:1",
        "%09",
        "%7f",
        "%c2%85",
        "%c0%ae%c0%ae",
        "%",
        "%zz",
        "%e2%28",
    ] {
        let error = decode_segment("id", segment).unwrap_err();
        assert_eq!(
            (error.field.as_ref(), error.rule.name()),
            ("id", "path-segment"),
            "{segment}"
        );
        assert!(segment.len() < 4 || !error.message().contains(segment));
    }
}

proptest! {
    #[test]
    fn encoded_segment_decodes_to_the_original(text in "[^/\\\\%?#\\p{Cc}]{0,20}") {
        prop_assert_eq!(decode_segment("id", &percent_encode(&text)), Ok(text));
    }

    #[test]
    fn accepted_segment_contains_no_separator(segment in "([a-z.;%]|%[0-9a-fA-F]{2}|\\PC){0,8}") {
        if let Ok(text) = decode_segment("id", &segment) {
            let holds_none = !text.contains(['/', '\\', '%', '?', '#']) && !text.contains(char::is_control);
            prop_assert!(holds_none, "{:?}", text);
        }
    }

    #[test]
    fn path_must_have_as_many_segments_as_the_operation(path in "(/|v2|v1|agent|analytics|jobs?|views|message|events|x|%2f|\\.){0,9}") {
        for method in ["GET", "POST"] {
            if let Ok(route) = find(method, &path) {
                prop_assert_eq!(route.operation.declaration().path.split('/').count(), path.split('/').count());
                prop_assert!(route.segments.iter().all(|(_, segment)| !segment.is_empty()));
            }
        }
    }

    #[test]
    fn found_path_is_the_template_with_its_values(
        at in 0..Operation::ALL.len(),
        project in "(demo-docs|\\.\\.|job|%2f|[a-z;%. ]{1,5})",
        id in "(j1|events|message|\\.|[a-z;%. ]{1,5})",
    ) {
        let operation = operations().nth(at).unwrap();
        let path = operation.path.replace("{projectId}", &project).replace("{id}", &id);
        let route = find(operation.method.as_str(), &path).unwrap();
        let back = route.segments.iter().fold(route.operation.declaration().path.to_owned(), |template, (name, value)| {
            template.replace(&format!("{{{name}}}"), value)
        });
        prop_assert_eq!(route.operation.declaration().name, operation.name);
        prop_assert_eq!(back, path);
    }
}
