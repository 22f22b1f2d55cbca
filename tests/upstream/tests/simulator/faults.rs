use std::io::{ErrorKind, Read};
use std::net::Shutdown;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{Client, JOB, VIEWS, eventually, quick};
use crate::wire;

const GET_VIEWS: &str = "GET /v1/analytics/demo-docs/views";

/// The head of a raw answer, in lower case, and its body.
fn split(text: &str) -> (String, &str) {
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    (head.to_lowercase(), body)
}

#[test]
fn status_answers_as_told() {
    let client = Client::start(quick());
    client.fault(&json!({ "kind": "status", "status": 503, "headers": { "retry-after": "7" } }));
    let answer = client.get(VIEWS);
    assert_eq!((answer.status, answer.header("retry-after")), (503, "7"));
    assert_eq!(answer.json(), json!({ "error": "Service Unavailable" }));
    assert!(answer.header("x-request-id").starts_with("req_"));

    client.fault(
        &json!({ "kind": "status", "status": 500, "body": "oh", "contentType": "text/plain" }),
    );
    let answer = client.get(VIEWS);
    assert_eq!((answer.status, answer.text.as_str()), (500, "oh"));
    assert_eq!(answer.header("content-type"), "text/plain");
    assert_eq!(client.get(VIEWS).status, 200);
}

#[test]
fn json_html_and_empty_answer_in_place_of_the_api() {
    let client = Client::start(quick());
    client.fault(&json!({ "kind": "json", "status": 200, "body": [1, { "a": null }] }));
    assert_eq!(client.get(VIEWS).json(), json!([1, { "a": null }]));

    client.fault(&json!({ "kind": "html", "status": 502 }));
    let answer = client.get(VIEWS);
    assert_eq!(answer.status, 502);
    assert!(
        answer.header("content-type").starts_with("text/html") && answer.text.contains("<html>")
    );

    client.fault(&json!({ "kind": "empty", "status": 200 }));
    let answer = client.get(VIEWS);
    assert_eq!((answer.status, answer.text.as_str()), (200, ""));
    assert_eq!(answer.header("content-length"), "0");
    assert_eq!(client.counter("jobsCreated"), 0);
}

#[test]
fn redirect_names_its_location() {
    let client = Client::start(quick());
    client.fault(&json!({ "kind": "redirect", "status": 307, "location": "http://other.test/" }));
    let answer = client.get(VIEWS);
    assert_eq!(
        (answer.status, answer.header("location")),
        (307, "http://other.test/")
    );
}

#[test]
fn delay_answers_late_but_as_usual() {
    let client = Client::start(quick());
    client.fault(&json!({ "kind": "delay", "ms": 120 }));
    let begun = Instant::now();
    assert_eq!(client.get(VIEWS).status, 200);
    assert!(begun.elapsed() >= Duration::from_millis(120));
}

#[test]
fn hang_lasts_until_the_client_leaves() {
    let client = Client::start(quick());
    client.fault(&json!({ "kind": "hang" }));
    let stream = wire::send(&client, GET_VIEWS);
    eventually("the request is there", || client.counter("inFlight") == 1);
    assert_eq!(client.counter("aborted"), 0);
    stream.shutdown(Shutdown::Both).unwrap();
    eventually("the client is missed", || client.counter("aborted") == 1);
    assert_eq!(client.counter("inFlight"), 0);
    assert_eq!(client.read_control("/counters")["byStatus"], json!({}));
}

/// Creates so many jobs at once, and gives their answers when `meanwhile` is done.
fn creations(client: &Client, count: usize, meanwhile: impl FnOnce()) -> Vec<u16> {
    std::thread::scope(|scope| {
        let create = || client.post(JOB, r#"{"prompt": "x"}"#).status;
        let running: Vec<_> = (0..count).map(|_| scope.spawn(create)).collect();
        meanwhile();
        running.into_iter().map(|one| one.join().unwrap()).collect()
    })
}

fn release(client: &Client, body: &Value) -> u64 {
    let answer = client.control("POST", "/release", body);
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()["released"].as_u64().unwrap()
}

#[test]
fn held_requests_wait_for_their_release_and_then_go_on() {
    let client = Client::start(quick());
    let order = json!({ "times": 0, "fault": { "kind": "hold" } });
    client.control("POST", "/faults", &order);
    let statuses = creations(&client, 5, || {
        eventually("all are held", || client.counter("held") == 5);
        assert_eq!(client.counter("jobsCreated"), 0);
        assert_eq!(release(&client, &json!({ "count": 2 })), 2);
        eventually("two have gone on", || client.counter("jobsCreated") == 2);
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
        "a full release ends the holding"
    );
}

#[test]
fn a_hold_can_come_after_the_request_was_processed() {
    let client = Client::start(quick());
    client.fault(&json!({ "kind": "hold", "process": true }));
    let statuses = creations(&client, 1, || {
        eventually("it is held", || client.counter("held") == 1);
        assert_eq!(client.counter("jobsCreated"), 1);
        release(&client, &Value::Null);
    });
    assert_eq!(statuses, [201]);
}

#[test]
fn a_hold_can_end_in_another_fault() {
    let client = Client::start(quick());
    for (process, created) in [(false, 0), (true, 1)] {
        let next = json!({ "kind": "empty", "status": 503 });
        client.fault(&json!({ "kind": "hold", "process": process, "next": next }));
        let statuses = creations(&client, 1, || {
            eventually("it is held", || client.counter("held") == 1);
            release(&client, &Value::Null);
        });
        assert_eq!(
            (statuses, client.counter("jobsCreated")),
            (vec![503], created)
        );
    }
}

#[test]
fn a_held_request_whose_client_leaves_is_held_no_longer() {
    let client = Client::start(quick());
    client.fault(&json!({ "kind": "hold" }));
    let stream = wire::send(&client, GET_VIEWS);
    eventually("it is held", || client.counter("held") == 1);
    drop(stream);
    eventually("the client is missed", || client.counter("aborted") == 1);
    assert_eq!(client.counter("held"), 0);
    assert_eq!(release(&client, &Value::Null), 0);
}

#[test]
fn a_reset_of_the_simulator_breaks_held_requests_off() {
    let client = Client::start(quick());
    client.fault(&json!({ "kind": "hold" }));
    let stream = wire::send(&client, GET_VIEWS);
    eventually("it is held", || client.counter("held") == 1);
    client.control("POST", "/reset", &Value::Null);
    let (text, end) = wire::read_to_end(stream);
    assert_eq!(text, "");
    assert_eq!(end.unwrap_err().kind(), ErrorKind::ConnectionReset);
}

#[test]
fn hang_may_come_after_the_request_was_processed() {
    let client = Client::start(quick());
    client.fault(&json!({ "kind": "hang", "process": true }));
    let prompt = r#"{"prompt": "x"}"#;
    let stream = wire::send_body(&client, &format!("POST {JOB}"), prompt);
    eventually("the job is there", || client.counter("jobsCreated") == 1);
    assert_eq!(client.counter("inFlight"), 1);
    drop(stream);
    eventually("the client is missed", || client.counter("aborted") == 1);
}

#[test]
fn status_may_come_after_the_request_was_processed() {
    let client = Client::start(quick());
    client.fault(&json!({ "kind": "status", "status": 500, "process": true }));
    assert_eq!(client.post(JOB, r#"{"prompt": "x"}"#).status, 500);
    assert_eq!(client.counter("jobsCreated"), 1);
}

#[test]
fn a_fault_may_be_for_one_target_only() {
    let client = Client::start(quick());
    let fault = json!({ "kind": "empty", "status": 500 });
    let order = json!({ "target": "offset=250", "fault": fault });
    client.control("POST", "/faults", &order);
    let offsets = ["0", "250", "250"];
    let statuses = offsets.map(|offset| client.get(&format!("{VIEWS}?offset={offset}")).status);
    assert_eq!(statuses, [200, 500, 200]);
}

#[test]
fn a_body_is_cut_after_so_many_bytes() {
    let client = Client::start(quick());
    let whole = client.get(VIEWS).text.len();
    for (bytes, sent) in [(0, 0), (10, 10), (9_999_999, whole - 1)] {
        client.fault(&json!({ "kind": "cutBody", "bytes": bytes }));
        let (text, end) = wire::read_to_end(wire::send(&client, GET_VIEWS));
        end.unwrap();
        let (head, body) = split(&text);
        assert!(head.contains(&format!("content-length: {whole}")));
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
fn reset_breaks_the_connection_before_any_answer() {
    let client = Client::start(quick());
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
fn reset_may_come_after_the_request_was_processed() {
    let client = Client::start(quick());
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
fn cut_body_announces_more_than_it_sends() {
    let client = Client::start(quick());
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
fn cut_chunked_has_no_last_chunk() {
    let client = Client::start(quick());
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
fn malformed_json_is_complete_as_http() {
    let client = Client::start(quick());
    client.fault(&json!({ "kind": "malformedJson" }));
    let answer = client.get(VIEWS);
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), "application/json");
    assert!(!answer.text.is_empty() && serde_json::from_str::<Value>(&answer.text).is_err());
}

#[test]
fn an_empty_page_claims_that_there_is_more() {
    let client = Client::start(quick());
    let totals = client.get(VIEWS).json()["totals"].clone();
    client.fault(&json!({ "kind": "emptyPage" }));
    let page = client.get(VIEWS).json();
    assert_eq!(
        page,
        json!({ "totals": totals, "views": [], "hasMore": true })
    );
}

#[test]
fn slow_drip_sends_small_pieces_and_misses_a_client_that_leaves() {
    let client = Client::start(quick());
    let whole = client.get(VIEWS).text;
    client.fault(&json!({ "kind": "slowDrip", "chunkBytes": 500, "intervalMs": 5 }));
    assert_eq!(client.get(VIEWS).text, whole);

    client.fault(&json!({ "kind": "slowDrip", "chunkBytes": 1, "intervalMs": 20 }));
    let mut stream = wire::send(&client, GET_VIEWS);
    let mut some = [0; 16];
    stream.read_exact(&mut some).unwrap();
    assert_eq!(client.counter("inFlight"), 1);
    drop(stream);
    eventually("the client is missed", || client.counter("aborted") == 1);
}

#[test]
fn faults_can_wait_repeat_and_be_cleared() {
    let client = Client::start(quick());
    let order = json!({
        "operation": "pageViews.list", "after": 1, "times": 2,
        "fault": { "kind": "empty", "status": 500 },
    });
    assert_eq!(
        client.control("POST", "/faults", &order).json(),
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
fn a_fault_that_makes_no_sense_is_refused_with_the_reason() {
    let client = Client::start(quick());
    let answer = client.control(
        "POST",
        "/faults",
        &json!({ "fault": { "kind": "explode" } }),
    );
    assert_eq!(answer.status, 400);
    assert!(answer.json()["error"].as_str().unwrap().contains("explode"));
}

#[test]
fn a_fault_rate_strikes_requests_that_no_queued_fault_matches() {
    let client = Client::start(quick());
    let set = |body| client.control("POST", "/fault-rate", &body).status;
    assert_eq!(set(json!({ "perThousand": 1001 })), 400);
    assert_eq!(set(json!({ "perThousand": 1000, "seed": 1 })), 204);
    client.fault(&json!({ "kind": "status", "status": 418 }));
    assert_eq!(client.get(VIEWS).status, 418);
    let injected = || client.control("GET", "/fault-rate", &Value::Null).json();
    assert_eq!(injected()["injected"], json!({}));
    // Reset, cut, malformed or not 200.
    let is_whole = client
        .try_get(VIEWS)
        .is_ok_and(|answer| answer.status == 200 && answer.text.ends_with('}'));
    assert!(!is_whole);
    let struck: u64 = injected()["injected"]
        .as_object()
        .unwrap()
        .values()
        .filter_map(Value::as_u64)
        .sum();
    assert!(struck > 0);
    assert_eq!(
        client.control("DELETE", "/fault-rate", &Value::Null).status,
        204
    );
    assert_eq!(client.get(VIEWS).status, 200);
    assert_eq!(injected()["perThousand"], json!(0));
}
