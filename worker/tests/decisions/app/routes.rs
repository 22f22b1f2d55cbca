//! Routing of methods and paths.

use quillgate::Operation;
use quillgate_worker::app::routes::{Endpoint, find};
use quillgate_worker::http::route::join_methods;

const CREATE: &str = "/v2/agent/demo-docs/job";
const GET: &str = "/v2/agent/demo-docs/job/j1";
const MESSAGE: &str = "/v2/agent/demo-docs/job/j1/message";
const JOBS: &str = "/v2/agent/demo-docs/jobs";
const EVENTS: &str = "/v2/agent/demo-docs/job/j1/events";
const VIEWS: &str = "/v1/analytics/demo-docs/views";

#[test]
fn each_operation_is_found_by_its_method_and_path() {
    for operation in Operation::ALL.iter().copied() {
        let declared = operation.declaration();
        let path = declared.path.replace("{projectId}", "demo-docs");
        let path = path.replace("{id}", "j1").replace("{threadId}", "t1");
        let route = find(declared.method.as_str(), &path).unwrap();
        assert_eq!(route.endpoint, Endpoint::Operation(operation), "{path}");
    }
    let route = find("GET", GET).unwrap();
    assert_eq!(route.segments, [("projectId", "demo-docs"), ("id", "j1")]);
}

#[test]
fn path_values_are_returned_undecoded() {
    for segment in [
        "%2e%2e", "..", "a%2Fb", "a;b=c", "*", "a b", "ü", "message", "events", "job", "jobs",
    ] {
        for rest in ["", "/events"] {
            let path = format!("/v2/agent/{segment}/job/{segment}{rest}");
            let route = find("GET", &path).unwrap();
            let expected = [("projectId", segment), ("id", segment)];
            assert_eq!(route.segments, expected, "{path}");
        }
    }
}

#[test]
fn path_must_match_an_operation_exactly() {
    for path in [
        "",
        "/",
        "v2/agent/demo-docs/job",
        "/v2/agent/demo-docs/job/",
        "/v2/agent/demo-docs/job//message",
        "/v2/agent/demo-docs/job/j1/messages",
        "/v2/agent/demo-docs/job/j1/x/message",
        "/v2/agent/demo-docs/job/j1/events/1",
        "/v2/agent/demo-docs/job/j1/%65vents",
        "/v2/agent/demo-docs/job/j1;x/events;y",
        "/v2/agent/demo-docs/job/j1/message/events",
        "/v2/agent//job/j1/events",
        "/v2/agent/demo-docs/jobs/",
        "/v2/agent/demo-docs/jobs/j1/events",
        "/v2/agent/demo-docs/job%73",
        "/v2/agent/demo-docs/jobs%3flimit=5",
        "//v2/agent/demo-docs/job",
        "/./v2/agent/demo-docs/job",
        "/x/../v2/agent/demo-docs/job",
        "/v2/agent/demo-docs/../demo-docs/job",
        "/v2/agent/demo-docs/%6aob",
        "/v2%2fagent/demo-docs/job",
        "/v2/agent/demo-docs/job;x=1",
        "/v2/agent/demo-docs/job.json",
        "/v2/agent/demo-docs/job%00",
        "/v2/agent/demo-docs/Job",
        "/V2/agent/demo-docs/job",
        "\\v2\\agent\\demo-docs\\job",
        "/v3/agent/demo-docs/job",
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
            assert_eq!(
                join_methods(&find(method, path).unwrap_err()),
                allow,
                "{method:?} {path}"
            );
        }
    }
}
