use serde_json::{Value, json};

use crate::client::{AUTOMATIONS, Client, KEY, fast_options};

fn trigger(automation: &str) -> String {
    format!("{AUTOMATIONS}/{automation}/trigger")
}

#[test]
fn each_request_starts_a_run() {
    let client = Client::start(fast_options());
    let bearer = format!("Bearer {KEY}");
    let headers = [
        ("authorization", bearer.as_str()),
        ("idempotency-key", "once"),
    ];
    let target = trigger("6560000000000000000000aa");
    let runs = [(); 2].map(|()| client.send("POST", &target, &headers, "").unwrap());
    for run in &runs {
        assert_eq!(run.status, 202);
        assert_eq!(run.json()["schemaId"], "6560000000000000000000aa");
        assert_eq!(run.json()["instanceId"].as_str().unwrap().len(), 24);
        assert_eq!(run.json()["jobId"].as_str().unwrap().len(), 36);
    }
    assert_ne!(runs[0].json()["instanceId"], runs[1].json()["instanceId"]);

    let listed = client.read_control("/automation-runs");
    assert_eq!(listed.as_array().unwrap().len(), 2);
    assert_eq!(listed[1]["instanceId"], runs[1].json()["instanceId"]);
    assert_eq!(listed[0]["projectId"], "demo-docs");
    assert_eq!(listed[0]["origin"]["idempotencyKey"], "once");
    assert_eq!(client.counter("automationsRun"), 2);
    client.control("POST", "/reset", &Value::Null);
    assert_eq!(client.read_control("/automation-runs"), json!([]));
}

#[test]
fn the_id_selects_whether_an_automation_can_run() {
    let client = Client::start(fast_options());
    for (automation, status) in [
        ("unknown-automation", 404),
        ("unscheduled-automation", 400),
        ("inactive-automation", 400),
        ("scheduled-automation", 202),
    ] {
        let response = client.post(&trigger(automation), "");
        assert_eq!(response.status, status, "{automation}");
        assert_eq!(response.json()["error"].is_string(), status >= 400);
    }
    assert_eq!(client.counter("automationsRun"), 1);
}

#[test]
fn an_automation_belongs_to_a_project_of_the_key() {
    let client = Client::start(fast_options());
    let target = "/v1/workflow/other-docs/weekly/trigger";
    assert_eq!(client.post(target, "").status, 403);
    assert_eq!(client.send("POST", target, &[], "").unwrap().status, 401);
}
