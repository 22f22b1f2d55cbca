use std::io::ErrorKind;
use std::net::Shutdown;

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
