use std::io::{ErrorKind, Read};
use std::net::Shutdown;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{Client, JOB, VIEWS, fast_options, wait_until};
use crate::wire;

const GET_VIEWS: &str = "GET /v1/analytics/demo-docs/views";

/// The head of a raw response in lower case, and its body.
fn split(text: &str) -> (String, &str) {
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    (head.to_lowercase(), body)
}

#[test]
fn a_status_fault_returns_its_response() {
    let client = Client::start(fast_options());
    client.fault(&json!({ "kind": "status", "status": 503, "headers": { "retry-after": "7" } }));
    let response = client.get(VIEWS);
    assert_eq!(
        (response.status, response.header("retry-after")),
        (503, "7")
    );
    assert_eq!(response.json(), json!({ "error": "Service Unavailable" }));
    assert!(response.header("x-request-id").starts_with("req_"));

    client.fault(
        &json!({ "kind": "status", "status": 500, "body": "oh", "contentType": "text/plain" }),
    );
    let response = client.get(VIEWS);
    assert_eq!((response.status, response.text.as_str()), (500, "oh"));
    assert_eq!(response.header("content-type"), "text/plain");
    assert_eq!(client.get(VIEWS).status, 200);
}

#[test]
fn json_html_and_empty_replace_the_response_of_the_api() {
    let client = Client::start(fast_options());
    client.fault(&json!({ "kind": "json", "status": 200, "body": [1, { "a": null }] }));
    assert_eq!(client.get(VIEWS).json(), json!([1, { "a": null }]));

    client.fault(&json!({ "kind": "html", "status": 502 }));
    let response = client.get(VIEWS);
    assert_eq!(response.status, 502);
    assert!(
        response.header("content-type").starts_with("text/html")
            && response.text.contains("<html>")
    );

    client.fault(&json!({ "kind": "empty", "status": 200 }));
    let response = client.get(VIEWS);
    assert_eq!((response.status, response.text.as_str()), (200, ""));
    assert_eq!(response.header("content-length"), "0");
    assert_eq!(client.counter("jobsCreated"), 0);
}

#[test]
fn a_redirect_has_its_location() {
    let client = Client::start(fast_options());
    client.fault(&json!({ "kind": "redirect", "status": 307, "location": "http://other.test/" }));
    let response = client.get(VIEWS);
    assert_eq!(
        (response.status, response.header("location")),
        (307, "http://other.test/")
    );
}

#[test]
fn a_delayed_response_is_otherwise_normal() {
    let client = Client::start(fast_options());
    client.fault(&json!({ "kind": "delay", "ms": 120 }));
    let started_at = Instant::now();
    assert_eq!(client.get(VIEWS).status, 200);
    assert!(started_at.elapsed() >= Duration::from_millis(120));
}

#[test]
fn a_hang_lasts_until_the_client_disconnects() {
    let client = Client::start(fast_options());
    client.fault(&json!({ "kind": "hang" }));
    let stream = wire::send(&client, GET_VIEWS);
    wait_until("the request arrives", || client.counter("inFlight") == 1);
    assert_eq!(client.counter("aborted"), 0);
    stream.shutdown(Shutdown::Both).unwrap();
    wait_until("the client disconnects", || client.counter("aborted") == 1);
    assert_eq!(client.counter("inFlight"), 0);
    assert_eq!(client.read_control("/counters")["byStatus"], json!({}));
}

/// Creates jobs concurrently, runs `meanwhile`, and returns the statuses of the responses.
fn create_jobs(client: &Client, count: usize, meanwhile: impl FnOnce()) -> Vec<u16> {
    std::thread::scope(|scope| {
        let create = || client.post(JOB, r#"{"prompt": "x"}"#).status;
        let simulator: Vec<_> = (0..count).map(|_| scope.spawn(create)).collect();
        meanwhile();
        simulator
            .into_iter()
            .map(|one| one.join().unwrap())
            .collect()
    })
}

fn release(client: &Client, body: &Value) -> u64 {
    let response = client.control("POST", "/release", body);
    assert_eq!(response.status, 200, "{}", response.text);
    response.json()["released"].as_u64().unwrap()
}

#[test]
fn held_requests_continue_after_their_release() {
    let client = Client::start(fast_options());
    let rule = json!({ "times": 0, "fault": { "kind": "hold" } });
    client.control("POST", "/faults", &rule);
    let statuses = create_jobs(&client, 5, || {
        wait_until("all are held", || client.counter("held") == 5);
        assert_eq!(client.counter("jobsCreated"), 0);
        assert_eq!(release(&client, &json!({ "count": 2 })), 2);
        wait_until("two continue", || client.counter("jobsCreated") == 2);
        assert_eq!(client.counter("held"), 3);
        assert_eq!(release(&client, &Value::Null), 3);
    });
    assert_eq!(statuses, [201; 5]);
    assert_eq!(
        (client.counter("jobsCreated"), client.counter("held")),
        (5, 0)
    );
    assert_eq!(
        client.get(VIEWS).status,
        200,
        "releasing all requests removes the hold"
    );
}

#[test]
fn a_hold_can_follow_the_processing_of_the_request() {
    let client = Client::start(fast_options());
    client.fault(&json!({ "kind": "hold", "process": true }));
    let statuses = create_jobs(&client, 1, || {
        wait_until("the request is held", || client.counter("held") == 1);
        assert_eq!(client.counter("jobsCreated"), 1);
        release(&client, &Value::Null);
    });
    assert_eq!(statuses, [201]);
}

#[test]
fn a_hold_can_end_in_another_fault() {
    let client = Client::start(fast_options());
    for (process, created) in [(false, 0), (true, 1)] {
        let next = json!({ "kind": "empty", "status": 503 });
        client.fault(&json!({ "kind": "hold", "process": process, "next": next }));
        let statuses = create_jobs(&client, 1, || {
            wait_until("the request is held", || client.counter("held") == 1);
            release(&client, &Value::Null);
        });
        assert_eq!(
            (statuses, client.counter("jobsCreated")),
            (vec![503], created)
        );
    }
}

#[test]
fn a_held_request_ends_when_its_client_disconnects() {
    let client = Client::start(fast_options());
    client.fault(&json!({ "kind": "hold" }));
    let stream = wire::send(&client, GET_VIEWS);
    wait_until("the request is held", || client.counter("held") == 1);
    drop(stream);
    wait_until("the client disconnects", || client.counter("aborted") == 1);
    assert_eq!(client.counter("held"), 0);
    assert_eq!(release(&client, &Value::Null), 0);
}

#[test]
fn resetting_the_simulator_aborts_held_requests() {
    let client = Client::start(fast_options());
    client.fault(&json!({ "kind": "hold" }));
    let stream = wire::send(&client, GET_VIEWS);
    wait_until("the request is held", || client.counter("held") == 1);
    client.control("POST", "/reset", &Value::Null);
    let (text, end) = wire::read_to_end(stream);
    assert_eq!(text, "");
    assert_eq!(end.unwrap_err().kind(), ErrorKind::ConnectionReset);
}

#[test]
fn a_hang_can_follow_the_processing_of_the_request() {
    let client = Client::start(fast_options());
    client.fault(&json!({ "kind": "hang", "process": true }));
    let prompt = r#"{"prompt": "x"}"#;
    let stream = wire::send_body(&client, &format!("POST {JOB}"), prompt);
    wait_until("the job is created", || client.counter("jobsCreated") == 1);
    assert_eq!(client.counter("inFlight"), 1);
    drop(stream);
    wait_until("the client disconnects", || client.counter("aborted") == 1);
}

#[test]
fn a_status_can_follow_the_processing_of_the_request() {
    let client = Client::start(fast_options());
    client.fault(&json!({ "kind": "status", "status": 500, "process": true }));
    assert_eq!(client.post(JOB, r#"{"prompt": "x"}"#).status, 500);
    assert_eq!(client.counter("jobsCreated"), 1);
}

#[test]
fn a_fault_can_apply_to_one_target() {
    let client = Client::start(fast_options());
    let fault = json!({ "kind": "empty", "status": 500 });
    let rule = json!({ "target": "offset=250", "fault": fault });
    client.control("POST", "/faults", &rule);
    let offsets = ["0", "250", "250"];
    let statuses = offsets.map(|offset| client.get(&format!("{VIEWS}?offset={offset}")).status);
    assert_eq!(statuses, [200, 500, 200]);
}

#[test]
fn a_body_is_cut_after_the_given_number_of_bytes() {
    let client = Client::start(fast_options());
    let full = client.get(VIEWS).text.len();
    for (bytes, sent) in [(0, 0), (10, 10), (9_999_999, full - 1)] {
        client.fault(&json!({ "kind": "cutBody", "bytes": bytes }));
        let (text, end) = wire::read_to_end(wire::send(&client, GET_VIEWS));
        end.unwrap();
        let (head, body) = split(&text);
        assert!(head.contains(&format!("content-length: {full}")));
        assert_eq!(body.len(), sent);
    }
    client.fault(&json!({ "kind": "cutChunked", "bytes": 9_999_999 }));
    let (text, end) = wire::read_to_end(wire::send(&client, GET_VIEWS));
    end.unwrap();
    assert!(split(&text).1.contains("\"hasMore\"") && !text.ends_with("0\r\n\r\n"));
    client.fault(&json!({ "kind": "cutChunked", "bytes": 0 }));
    let (text, end) = wire::read_to_end(wire::send(&client, GET_VIEWS));
    end.unwrap();
    assert_eq!(split(&text).1, "");
}

#[test]
fn a_reset_closes_the_connection_before_any_response() {
    let client = Client::start(fast_options());
    client.fault(&json!({ "kind": "reset" }));
    let (text, end) = wire::read_to_end(wire::send(&client, GET_VIEWS));
    assert_eq!(text, "");
    assert_eq!(end.unwrap_err().kind(), ErrorKind::ConnectionReset);
    assert_eq!(
        (client.counter("aborted"), client.counter("inFlight")),
        (0, 0)
    );
    assert_eq!(client.get(VIEWS).status, 200);
}

#[test]
fn a_reset_can_follow_the_processing_of_the_request() {
    let client = Client::start(fast_options());
    for (process, created) in [(false, 0), (true, 1)] {
        client.fault(&json!({ "kind": "reset", "process": process }));
        let key = format!("Bearer {}", crate::client::KEY);
        let headers = [
            ("authorization", key.as_str()),
            ("content-type", "application/json"),
        ];
        assert!(
            client
                .send("POST", JOB, &headers, r#"{"prompt": "x"}"#)
                .is_err()
        );
        assert_eq!(client.counter("jobsCreated"), created);
    }
}

#[test]
fn a_cut_body_announces_more_bytes_than_it_sends() {
    let client = Client::start(fast_options());
    client.fault(&json!({ "kind": "cutBody" }));
    let (text, end) = wire::read_to_end(wire::send(&client, GET_VIEWS));
    end.unwrap();
    let (head, body) = split(&text);
    let announced = head
        .split("content-length: ")
        .nth(1)
        .unwrap()
        .lines()
        .next()
        .unwrap();
    assert_eq!(announced.parse::<usize>().unwrap() / 2, body.len());
    assert!(head.starts_with("http/1.1 200"));
    assert_eq!(
        (client.counter("aborted"), client.counter("inFlight")),
        (0, 0)
    );

    client.fault(&json!({ "kind": "cutBody" }));
    assert!(client.try_get(VIEWS).is_err());
}

#[test]
fn a_cut_chunked_body_has_no_last_chunk() {
    let client = Client::start(fast_options());
    client.fault(&json!({ "kind": "cutChunked" }));
    let (text, end) = wire::read_to_end(wire::send(&client, GET_VIEWS));
    end.unwrap();
    let (head, body) = split(&text);
    assert!(head.contains("transfer-encoding: chunked") && !head.contains("content-length"));
    assert!(body.contains("\"views\"") && !body.ends_with("0\r\n\r\n"));

    client.fault(&json!({ "kind": "cutChunked" }));
    assert!(client.try_get(VIEWS).is_err());
}

#[test]
fn malformed_json_is_a_valid_http_response() {
    let client = Client::start(fast_options());
    client.fault(&json!({ "kind": "malformedJson" }));
    let response = client.get(VIEWS);
    assert_eq!(response.status, 200);
    assert_eq!(response.header("content-type"), "application/json");
    assert!(!response.text.is_empty() && serde_json::from_str::<Value>(&response.text).is_err());
}

#[test]
fn an_empty_page_has_more() {
    let client = Client::start(fast_options());
    let totals = client.get(VIEWS).json()["totals"].clone();
    client.fault(&json!({ "kind": "emptyPage" }));
    let page = client.get(VIEWS).json();
    assert_eq!(
        page,
        json!({ "totals": totals, "views": [], "hasMore": true })
    );
}

#[test]
fn a_slow_drip_sends_small_chunks_until_the_client_disconnects() {
    let client = Client::start(fast_options());
    let full = client.get(VIEWS).text;
    client.fault(&json!({ "kind": "slowDrip", "chunkBytes": 500, "intervalMs": 5 }));
    assert_eq!(client.get(VIEWS).text, full);

    client.fault(&json!({ "kind": "slowDrip", "chunkBytes": 1, "intervalMs": 20 }));
    let mut stream = wire::send(&client, GET_VIEWS);
    let mut some = [0; 16];
    stream.read_exact(&mut some).unwrap();
    assert_eq!(client.counter("inFlight"), 1);
    drop(stream);
    wait_until("the client disconnects", || client.counter("aborted") == 1);
}

#[test]
fn faults_can_be_postponed_repeated_and_cleared() {
    let client = Client::start(fast_options());
    let rule = json!({
        "operation": "analytics.views", "after": 1, "times": 2,
        "fault": { "kind": "empty", "status": 500 },
    });
    assert_eq!(
        client.control("POST", "/faults", &rule).json(),
        json!({ "queued": 1 })
    );
    assert_eq!(client.get(&format!("{JOB}/unknown")).status, 404);
    let statuses = [(); 4].map(|()| client.get(VIEWS).status);
    assert_eq!(statuses, [200, 500, 500, 200]);

    let lasting = json!({ "times": 0, "fault": { "kind": "empty", "status": 500 } });
    client.control("POST", "/faults", &lasting);
    assert_eq!([(); 3].map(|()| client.get("/any").status), [500; 3]);
    assert_eq!(
        client.control("DELETE", "/faults", &Value::Null).status,
        204
    );
    assert_eq!(client.get(VIEWS).status, 200);
}

#[test]
fn an_invalid_fault_is_rejected_with_a_reason() {
    let client = Client::start(fast_options());
    let response = client.control(
        "POST",
        "/faults",
        &json!({ "fault": { "kind": "explode" } }),
    );
    assert_eq!(response.status, 400);
    assert!(
        response.json()["error"]
            .as_str()
            .unwrap()
            .contains("explode")
    );
}

#[test]
fn a_fault_rate_applies_to_requests_that_no_queued_fault_matches() {
    let client = Client::start(fast_options());
    let set = |body| client.control("POST", "/fault-rate", &body).status;
    assert_eq!(set(json!({ "perThousand": 1001 })), 400);
    assert_eq!(set(json!({ "perThousand": 1000, "seed": 1 })), 204);
    client.fault(&json!({ "kind": "status", "status": 418 }));
    assert_eq!(client.get(VIEWS).status, 418);
    let injected = || client.control("GET", "/fault-rate", &Value::Null).json();
    assert_eq!(injected()["injected"], json!({}));
    // The response is reset, truncated, malformed or not 200.
    let is_whole = client
        .try_get(VIEWS)
        .is_ok_and(|response| response.status == 200 && response.text.ends_with('}'));
    assert!(!is_whole);
    let injected_count: u64 = injected()["injected"]
        .as_object()
        .unwrap()
        .values()
        .filter_map(Value::as_u64)
        .sum();
    assert!(injected_count > 0);
    assert_eq!(
        client.control("DELETE", "/fault-rate", &Value::Null).status,
        204
    );
    assert_eq!(client.get(VIEWS).status, 200);
    assert_eq!(injected()["perThousand"], json!(0));
}
