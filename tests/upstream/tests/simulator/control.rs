use serde_json::{Value, json};
use upstream::Options;

use crate::client::{Client, JOB, KEY, VIEWS, fast_options, wait_until};
use crate::wire;

#[test]
fn counters_count_requests_by_operation_and_status() {
    let client = Client::start(fast_options());
    let job = client.create("first");
    client.job(&job["id"]);
    client.post(
        &format!("{JOB}/{}/message", job["id"].as_str().unwrap()),
        r#"{"prompt": "x"}"#,
    );
    client.get(VIEWS);
    client.get(&format!("{VIEWS}?limit=0"));
    client.report("searches", "");
    client.get("/nowhere");
    client.send("DELETE", VIEWS, &[], "").unwrap();
    assert_eq!(
        client.read_control("/counters"),
        json!({
            "requests": 8,
            "byOperation": {
                "agentJobs.create": 1, "agentJobs.get": 1, "agentJobs.sendMessage": 1,
                "analytics.views": 2, "analytics.visitors": 0, "analytics.feedback": 0,
                "analytics.feedbackByPage": 0, "analytics.searches": 1,
                "analytics.conversations": 0, "analytics.conversation": 0,
                "analytics.callerStats": 0, "other": 2,
            },
            "byStatus": { "200": 4, "201": 1, "400": 1, "404": 1, "405": 1 },
            "jobsCreated": 1,
            "messagesSent": 1,
            "inFlight": 0,
            "maxInFlight": 1,
            "aborted": 0,
            "held": 0,
        })
    );
}

#[test]
fn requests_are_logged_verbatim() {
    let client = Client::start(fast_options());
    client.get("/v1/analytics/demo%2Ddocs/views?limit=5&dateFrom=2024-01-01T00%3A00Z&&x=%c3%A9");
    client.post(JOB, r#"{ "prompt":  "x" }"#);
    let log = client.read_control("/requests");
    assert_eq!(log[0]["method"], "GET");
    assert_eq!(log[0]["operation"], "analytics.views");
    let target = "/v1/analytics/demo%2Ddocs/views?limit=5&dateFrom=2024-01-01T00%3A00Z&&x=%c3%A9";
    assert_eq!(log[0]["target"], target);
    assert_eq!(log[1]["body"], r#"{ "prompt":  "x" }"#);
    let headers = log[1]["headers"].as_array().unwrap();
    assert!(headers.contains(&json!(["content-type", "application/json"])));
    assert!(headers.contains(&json!(["authorization", "accepted"])));
}

#[test]
fn the_request_log_hides_keys() {
    let client = Client::start(fast_options());
    let bearer = format!("Bearer {KEY}");
    client
        .send(
            "GET",
            VIEWS,
            &[("x-leak", KEY), ("authorization", &bearer)],
            "",
        )
        .unwrap();
    client
        .send(
            "GET",
            &format!("{VIEWS}?key={KEY}"),
            &[("authorization", "Bearer wrong")],
            "",
        )
        .unwrap();
    client.send("GET", VIEWS, &[], "").unwrap();
    client.create(&format!("my key is {KEY}"));
    let log = client.control("GET", "/requests", &Value::Null).text;
    let jobs = client.control("GET", "/jobs", &Value::Null).text;
    assert!(!log.contains(KEY) && !log.contains("wrong") && !jobs.contains(KEY));
    assert!(log.contains("[key]"), "leaked keys stay visible as [key]");
    let log: Value = serde_json::from_str(&log).unwrap();
    let labels: Vec<_> = log
        .as_array()
        .unwrap()
        .iter()
        .map(|request| &request["authorization"])
        .collect();
    assert_eq!(labels, ["accepted", "other", "none", "accepted"]);
}

#[test]
fn a_reset_clears_everything_except_keys() {
    let client = Client::start(Options {
        create_limit: 1,
        ..fast_options()
    });
    let fresh = client.read_control("/counters");
    let job = client.create("first");
    client.control(
        "POST",
        "/keys",
        &json!({ "key": "mint_second", "state": "accepted" }),
    );
    client.fault(&json!({ "kind": "hang" }));
    let hanging = wire::send(&client, &format!("GET {VIEWS}"));
    wait_until("the request hangs", || client.counter("inFlight") == 1);
    client.fault(&json!({ "kind": "empty", "status": 500 }));

    assert_eq!(client.control("POST", "/reset", &Value::Null).status, 204);
    assert_eq!(client.read_control("/counters"), fresh);
    assert_eq!(client.read_control("/requests"), json!([]));
    assert_eq!(client.read_control("/jobs"), json!([]));
    assert_eq!(
        client
            .get(&format!("{JOB}/{}", job["id"].as_str().unwrap()))
            .status,
        404
    );
    client.create("within the limit again");
    let second = client
        .send("GET", VIEWS, &[("authorization", "Bearer mint_second")], "")
        .unwrap();
    assert_eq!(second.status, 200);

    drop(hanging);
    client.get(VIEWS);
    assert_eq!(
        client.counter("aborted"),
        0,
        "requests from before the reset are not counted"
    );
}

#[test]
fn fields_of_a_job_can_be_forced() {
    let client = Client::start(Options {
        job_duration_ms: 600_000,
        ..fast_options()
    });
    let job = client.create("first");
    let id = job["id"].as_str().unwrap();
    let forced = json!({
        "status": "archived", "prLink": "https://example.test/1", "archivedAt": "2024-01-01T00:00:00Z",
    });
    let response = client.control("POST", &format!("/jobs/{id}"), &forced);
    assert_eq!(response.json(), client.job(&job["id"]));
    for field in ["status", "prLink", "archivedAt"] {
        assert_eq!(client.job(&job["id"])[field], forced[field]);
    }
    client.control("POST", &format!("/jobs/{id}"), &json!({ "prLink": null }));
    assert_eq!(client.job(&job["id"])["prLink"], Value::Null);
    assert_eq!(client.job(&job["id"])["status"], "archived");

    assert_eq!(
        client.control("POST", "/jobs/unknown", &json!({})).status,
        404
    );
    assert_eq!(
        client
            .control("POST", &format!("/jobs/{id}"), &json!({ "state": "x" }))
            .status,
        400
    );
}

#[test]
fn an_earlier_job_can_be_added() {
    let client = Client::start(Options {
        job_duration_ms: 600_000,
        ..fast_options()
    });
    let add = |created_at: Value| {
        let job = json!({ "projectId": "demo-docs", "createdAt": created_at });
        client.control("PUT", "/jobs/an-earlier-one", &job).status
    };
    let id = json!("an-earlier-one");
    assert_eq!(add(json!(1000)), 204);
    let job = client.job(&id);
    assert_eq!(job["createdAt"], "1970-01-01T00:00:01.000Z");
    assert_eq!(job["status"], "completed");
    assert_eq!(add(json!(2000)), 204);
    assert_eq!(client.job(&id)["createdAt"], "1970-01-01T00:00:02.000Z");
    let forced = json!({ "status": "planning", "prLink": null });
    client.control("POST", "/jobs/an-earlier-one", &forced);
    assert_eq!(client.job(&id)["status"], "planning");
    assert_eq!(client.read_control("/jobs").as_array().unwrap().len(), 1);
    assert_eq!(client.counter("jobsCreated"), 0);
    assert_eq!(add(json!("yesterday")), 400);
}

#[test]
fn jobs_are_listed_with_their_prompts_and_messages() {
    let client = Client::start(fast_options());
    let job = client.create("first");
    let target = format!("{JOB}/{}/message", job["id"].as_str().unwrap());
    client.post(&target, r#"{"prompt": "second"}"#);
    let listed = &client.read_control("/jobs")[0];
    assert_eq!(listed["id"], job["id"]);
    assert_eq!(listed["projectId"], "demo-docs");
    assert_eq!(
        (&listed["prompt"], &listed["messages"]),
        (&json!("first"), &json!(["second"]))
    );
}

#[test]
fn the_reads_of_a_job_are_counted_with_their_times() {
    let client = Client::start(fast_options());
    let (one, other) = (client.create("one"), client.create("other"));
    let control_job = |job: &Value| {
        let id = job["id"].as_str().unwrap();
        client.read_control(&format!("/jobs/{id}"))
    };
    assert_eq!(control_job(&one)["reads"], json!({ "count": 0, "at": [] }));
    client.job(&one["id"]);
    client.fault(&json!({ "kind": "empty", "status": 500 }));
    client.get(&format!("{JOB}/{}?x=1", one["id"].as_str().unwrap()));
    client.post(
        &format!("{JOB}/{}/message", one["id"].as_str().unwrap()),
        "{}",
    );

    let reads = &control_job(&one)["reads"];
    assert_eq!(reads["count"], 2, "failed reads are counted");
    let at: Vec<u64> = serde_json::from_value(reads["at"].clone()).unwrap();
    assert!(at.len() == 2 && at[0] > 1_700_000_000_000 && at.is_sorted());
    assert_eq!(control_job(&other)["reads"]["count"], 0);
    assert_eq!(client.read_control("/jobs")[0], control_job(&one));
    assert_eq!(
        client.control("GET", "/jobs/unknown", &Value::Null).status,
        404
    );
}

#[test]
fn a_job_has_the_origin_of_its_creation() {
    let client = Client::start(fast_options());
    let bearer = format!("Bearer {KEY}");
    let leak = format!("with-{KEY}");
    let headers = [
        ("authorization", bearer.as_str()),
        ("content-type", "application/json"),
        ("user-agent", "a-test/1"),
        ("traceparent", "00-1-2-01"),
        ("idempotency-key", &leak),
    ];
    client
        .send("POST", JOB, &headers, r#"{"prompt": "x"}"#)
        .unwrap();
    assert_eq!(
        client.read_control("/jobs")[0]["origin"],
        json!({
            "key": "key", "userAgent": "a-test/1", "traceparent": "00-1-2-01",
            "idempotencyKey": "with-[key]",
        })
    );
    client.create("without");
    let origin = &client.read_control("/jobs")[1]["origin"];
    assert_eq!(
        (&origin["traceparent"], &origin["idempotencyKey"]),
        (&Value::Null, &Value::Null)
    );
}

#[test]
fn the_request_log_has_the_time_and_key_name_of_each_request() {
    let client = Client::start(fast_options());
    client.get(VIEWS);
    client
        .send("GET", VIEWS, &[("authorization", "Bearer wrong")], "")
        .unwrap();
    client.send("GET", VIEWS, &[], "").unwrap();
    let log = client.read_control("/requests");
    let names: Vec<_> = log
        .as_array()
        .unwrap()
        .iter()
        .map(|request| &request["key"])
        .collect();
    assert_eq!(names, ["key", "other", "none"]);
    let at = |number: usize| log[number]["at"].as_u64().unwrap();
    assert!(at(0) > 1_700_000_000_000 && at(0) <= at(1) && at(1) <= at(2));
}

#[test]
fn limits_can_be_changed_lifted_and_restored() {
    let client = Client::start(Options {
        create_limit: 1,
        analytics_limit: 1,
        ..fast_options()
    });
    let create = || client.post(JOB, r#"{"prompt": "x"}"#).status;
    let set = |limits| assert_eq!(client.control("POST", "/limits", &limits).status, 204);
    assert_eq!([create(), create()], [201, 429]);
    set(json!({ "create": 2 }));
    assert_eq!([create(), create()], [201, 429]);
    set(json!({ "create": null }));
    assert_eq!([create(), create(), create()], [201; 3]);
    assert_eq!(
        client.read_control("/limits"),
        json!({ "create": null, "message": 100, "analytics": 1 })
    );

    client.control("POST", "/reset", &Value::Null);
    assert_eq!([create(), create()], [201; 2], "a reset changes no limit");
    assert_eq!(
        client.control("DELETE", "/limits", &Value::Null).status,
        204
    );
    assert_eq!(create(), 429);
    assert_eq!(
        client
            .control("POST", "/limits", &json!({ "creat": 1 }))
            .status,
        400
    );
}

#[test]
fn the_window_of_the_limits_can_be_shortened() {
    let client = Client::start(Options {
        analytics_limit: 1,
        ..fast_options()
    });
    client.get(VIEWS);
    assert_eq!(client.get(VIEWS).status, 429);
    client.control("POST", "/limits", &json!({ "windowMs": 1 }));
    wait_until("the window has passed", || client.get(VIEWS).status == 200);
}

#[test]
fn the_views_of_a_range_are_returned_in_full() {
    let client = Client::start(fast_options());
    let report = client.read_control("/views?projectId=demo-docs&dateTo=2024-01-01");
    assert_eq!(report["views"].as_array().unwrap().len(), 40);
    assert_eq!(report, client.read_control("/views?dateTo=2024-01-01"));
    assert_eq!(
        client
            .control("GET", "/views?projectId=other", &Value::Null)
            .status,
        403
    );
    assert_eq!(client.counter("requests"), 0);
}
