use quillgate::{Operation, RateLimitPolicy};
use quillgate_worker::analytics::export::Export;
use quillgate_worker::analytics::query::ReportQuery;
use quillgate_worker::app::admission::{Admission, Facts, is_liveness};
use quillgate_worker::app::routes::Endpoint;
use quillgate_worker::http::cors::Origin;
use quillgate_worker::http::problem::Problem;
use quillgate_worker::http::response::HeaderFields;
use quillgate_worker::jobs::records::{JobFilter, JobQuery};
use quillgate_worker::jobs::resource::Resource;

use super::{
    BODY, CREATE, EVENTS, JOB, JOBS, MESSAGE, OPERATIONS, VIEWS, admit, bare, expect_refusal, get,
    post, read_write, refusal, with_scope, write,
};
use crate::fixtures::{NOW, Outcome, RequestHead, bearer, configuration, encode, field_and_rule};

/// Returns the facts about a request that is admitted for this operation.
#[track_caller]
fn expect_facts(head: &RequestHead<'_>, operation: Operation) -> Facts {
    let Outcome { facts, result } = admit(head);
    match result {
        Ok(Admission::Admitted(Endpoint::Operation(found))) if found == operation => facts,
        other => panic!("{head:?}: {other:?}"),
    }
}

#[track_caller]
fn expect_job(head: &RequestHead<'_>) -> [String; 2] {
    let facts = expect_facts(head, Operation::GetAgentJob);
    let job = facts.call.unwrap().text("id").unwrap().to_owned();
    [facts.project.unwrap().as_str().to_owned(), job]
}

fn read_report(head: &RequestHead<'_>) -> Result<ReportQuery, Problem> {
    let Outcome { facts, result } = admit(head);
    let Admission::Admitted(Endpoint::Operation(operation)) = result? else {
        panic!("no operation: {head:?}");
    };
    let (call, project) = (facts.call.unwrap(), facts.project.unwrap());
    ReportQuery::read(operation, call, &project, &configuration().analytics, NOW)
}

#[track_caller]
fn expect_filter(head: &RequestHead<'_>) -> JobFilter {
    let call = expect_facts(head, Operation::ListAgentJobs).call;
    let query = JobQuery::read(&call.unwrap(), Resource::Job);
    query.unwrap().filter
}

#[track_caller]
fn expect_events(head: &RequestHead<'_>) -> String {
    let call = expect_facts(head, Operation::StreamAgentJobEvents).call;
    call.unwrap().text("id").unwrap().to_owned()
}

#[test]
fn valid_request_is_rebuilt_for_the_upstream() {
    let bearer = bearer();
    let asked = read_report(&get(&format!("{VIEWS}?offset=5&&%6cimit=010"), &bearer)).unwrap();
    assert_eq!(asked.list, "/v1/analytics/demo-docs/views");
    assert_eq!((asked.limit, asked.offset), (10, 5));

    let url = "https://gate.example/v2/agent/other%20docs/job/j;1";
    let job = expect_job(&get(url, &bearer));
    assert_eq!(job, ["other docs", "j;1"]);

    let write = write(&configuration(), CREATE, &HeaderFields::default());
    assert_eq!(write.target, "/v2/agent/demo-docs/job");
    assert_eq!(write.body.as_deref(), Some(r#"{"prompt":"x"}"#));
}

#[test]
fn event_stream_uses_the_job_id_in_the_path() {
    let bearer = bearer();
    assert_eq!(expect_events(&get(EVENTS, &bearer)), "j1");
    let encoded = "https://gate.example/v2/agent/other%20docs/job/%6a%20;1/events?&";
    let outcome = admit(&get(encoded, &bearer));
    assert_eq!(outcome.project(), Some("other docs"));
    assert_eq!(expect_events(&get(encoded, &bearer)), "j ;1");
    let problem = expect_refusal(&get(&format!("{EVENTS}?wait=25"), &bearer));
    assert_eq!(field_and_rule(&problem), ["wait", "unknown"]);
}

#[test]
fn job_list_is_filtered_by_its_query() {
    let bearer = bearer();
    let asked = |query: &str| expect_filter(&get(&format!("{JOBS}?{query}"), &bearer));
    for state in ["active", "completed", "archived", "failed"] {
        let filter = asked(&format!("state={state}"));
        assert_eq!(filter.state.as_deref(), Some(state));
    }
    let longest = "ä".repeat(200);
    let query = format!("limit=3&text={longest}&author=issuer%20ana&state=failed");
    let expected = JobFilter {
        state: Some("failed".to_owned()),
        author: Some("issuer ana".to_owned()),
        text: Some(longest),
    };
    assert_eq!(asked(&query), expected);
    assert_eq!(asked("text=%25_%27").text.as_deref(), Some("%_'"));
}

#[test]
fn invalid_job_list_query_is_rejected() {
    let bearer = bearer();
    for (query, field, rule) in [
        ("limit=101", "limit", "page-size"),
        ("cursor=", "cursor", "not-empty"),
        ("cursor=x", "cursor", "cursor"),
        ("state=queued", "state", "one-of"),
        ("author=", "author", "not-empty"),
        ("text=", "text", "not-empty"),
    ] {
        let problem = expect_refusal(&get(&format!("{JOBS}?{query}"), &bearer));
        assert_eq!(field_and_rule(&problem), [field, rule], "{query}");
    }
    let problem = expect_refusal(&get(&format!("{JOBS}?text={}", "ä".repeat(201)), &bearer));
    assert_eq!(field_and_rule(&problem), ["text", "longest-text"]);
    for text in ["-1.1", "1.", "18446744073709551616.1", "{}"] {
        let url = format!("{JOBS}?cursor={}", encode(text));
        let problem = expect_refusal(&get(&url, &bearer));
        assert_eq!(field_and_rule(&problem), ["cursor", "cursor"]);
    }
}

#[test]
fn cursor_of_a_report_may_be_inside_a_url_but_not_inside_a_position() {
    let bearer = with_scope("analytics:read analytics:conversations");
    let ulid = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    let (feedback, conversations) = (Operation::ListFeedback, Operation::ListConversations);
    for (path, report, cursor, rule) in [
        ("feedback", feedback, "%2B%2F0a%3D", "one-of"),
        ("assistant", conversations, ulid, "ulid"),
    ] {
        let list = VIEWS.replace("views", path);
        let target = list.replace("https://gate.example", "");
        let dates = "dateFrom=2024-01-01&dateTo=2024-02-01";
        let next = format!("https://api.mintlify.example{target}?limit=100&cursor={cursor}");
        let encoded = next.replace('%', "%25").replace('&', "%26");
        for sent in [cursor, &encoded] {
            let url = format!("{list}?{dates}&limit=100&cursor={sent}");
            let query = read_report(&get(&url, &bearer)).unwrap();
            let bare = format!("{target}?{dates}&limit=100&cursor={cursor}");
            assert_eq!(query.list, bare);
        }
        let position = format!("part~0.5.6.0.0~{cursor}");
        let url = format!("{list}?{dates}&cursor={position}");
        let problem = read_report(&get(&url, &bearer)).unwrap_err();
        assert_eq!(field_and_rule(&problem), ["cursor", rule]);
        let url = format!("{list}/export?{dates}&format=ndjson&cursor=0~{position}");
        let facts = admit(&get(&url, &bearer)).facts;
        let (call, project) = (facts.call.unwrap(), facts.project.unwrap());
        let settings = &configuration().analytics;
        Export::new(report, call, &project, settings, NOW).unwrap();
    }
}

#[test]
fn facts_are_the_route_caller_and_project_of_the_request() {
    let bearer = bearer();
    for (method, url, scope, pattern) in OPERATIONS {
        let head = post(url, &bearer).method(method);
        let outcome = admit(&head);
        let is_budgeted = outcome.facts.policy == Some(RateLimitPolicy::ReadJobs);
        assert_eq!(is_budgeted, scope == "jobs:read", "{url}");
        assert!(outcome.result.is_ok(), "{url}");
        assert_eq!(outcome.facts.route, Some(pattern));
        assert_eq!(outcome.project(), Some("demo-docs"));
        assert_eq!(outcome.facts.origin, Origin::Own);
        let caller = outcome.facts.caller.unwrap();
        assert_eq!(caller.subject, "alice");
        assert_eq!(caller.key(), "quillgate alice");
    }
    let other = admit(&get(&VIEWS.replace("demo-docs", "secret"), &bearer));
    assert_eq!(other.facts.caller.unwrap().subject, "alice");
    assert_eq!(other.facts.project, None, "it is not the caller's");
    let stranger = admit(&bare("GET", VIEWS));
    let expected = Some("/v1/analytics/{projectId}/views");
    assert_eq!(stranger.facts.route, expected);
    let expected = (None, None);
    assert_eq!((stranger.facts.caller, stranger.facts.project), expected);
}

#[test]
fn authorized_project_is_the_project_sent_upstream() {
    let bearer = bearer();
    for (segment, rule) in [
        ("demo-docs%2f..%2fsecret", "path-segment"),
        ("%2e%2e", "not-dot-segment"),
    ] {
        for (method, url, ..) in OPERATIONS {
            let url = url.replace("demo-docs", segment);
            let problem = expect_refusal(&post(&url, &bearer).method(method));
            assert_eq!(field_and_rule(&problem), ["projectId", rule], "{url}");
        }
    }
    let others = "Demo-docs demo-docs%20 demo%2Ddocs2 demo-docs;x demo%E2%80%90docs other+docs *";
    for segment in others.split(' ') {
        for (method, url, ..) in OPERATIONS {
            let url = url.replace("demo-docs", segment);
            let refused = refusal(&post(&url, &bearer).method(method));
            assert_eq!(refused, "403 project-not-allowed", "{url}");
        }
    }
    let encoded = "https://gate.example/v2/agent/%64emo-docs/job/j1";
    let job = expect_job(&get(encoded, &bearer));
    assert_eq!(job, ["demo-docs", "j1"]);
}

/// Returns the problem for a request that is rejected because of its head or its body.
#[track_caller]
fn expect_refusal_in_the_end(head: &RequestHead<'_>) -> Problem {
    let outcome = admit(head);
    if let Err(problem) = outcome.result {
        return problem;
    }
    let headers = HeaderFields::default();
    read_write(&configuration(), outcome.facts, head, &headers, BODY).unwrap_err()
}

#[test]
fn job_id_is_one_short_path_segment() {
    let bearer = bearer();
    let too_long = "j".repeat(257);
    for (id, rule) in [
        (too_long.as_str(), "id-length"),
        ("..", "not-dot-segment"),
        ("%2e.", "not-dot-segment"),
        ("j1%2fmessage", "path-segment"),
    ] {
        for url in [JOB, EVENTS, MESSAGE] {
            let url = url.replace("j1", id);
            let problem = if url.ends_with("/message") {
                expect_refusal_in_the_end(&post(&url, &bearer))
            } else {
                expect_refusal(&get(&url, &bearer))
            };
            assert_eq!(field_and_rule(&problem), ["id", rule], "{url}");
        }
    }
}

#[test]
fn only_the_liveness_check_needs_no_caller() {
    for (method, url, expected) in [
        ("GET", "https://h/healthz", true),
        ("HEAD", "https://h/healthz?x", true),
        ("GET", "https://h/healthz?deeper&x=deep&projects=x", true),
        ("GET", "https://h/healthz?project=x", false),
        ("GET", "https://h/healthz#?deep", true),
        ("GET", "https://h/healthz?deep", false),
        ("GET", "https://h/healthz?x=1&deep=0&y", false),
        ("POST", "https://h/healthz", false),
        ("GET", "https://h/healthz/", false),
        ("GET", "https://h//healthz", false),
        ("GET", "https://h/healthz%2f..%2fv2", false),
        ("GET", "https://h/x#/healthz", false),
        ("GET", "https://h/openapi.json", false),
    ] {
        let head = get(url, "").method(method);
        assert_eq!(is_liveness(&head.read()), expected, "{method} {url}");
        let result = admit(&head).result;
        let is_healthy = matches!(result, Ok(Admission::Admitted(Endpoint::Liveness)));
        assert_eq!(is_healthy, expected, "{method} {url}");
    }
    let post = get("https://h/healthz", "").method("POST");
    assert_eq!(refusal(&post), "405 method-not-allowed");
}
