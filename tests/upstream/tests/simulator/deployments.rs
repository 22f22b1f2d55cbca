use serde_json::{Value, json};
use upstream::{Options, Profile};

use crate::client::{AUTOMATIONS, Client, KEY, PREVIEW, STATUS, UPDATE, fast_options};

const DURATION_MS: u64 = 90_000;

fn sentences(status: &Value) -> Vec<&str> {
    let logs = status["logs"].as_array().unwrap();
    logs.iter().map(|line| line.as_str().unwrap()).collect()
}

/// The status and the last sentence of a deployment with this course at its end.
fn end(client: &Client, course: &str) -> (Value, String) {
    let next = json!({ "course": course });
    assert_eq!(client.control("POST", "/deployments", &next).status, 204);
    let id = client.deploy();
    client.advance_clock(DURATION_MS);
    let status = client.deployment(&id);
    let last = sentences(&status).last().copied().unwrap().to_owned();
    (status, last)
}

#[test]
fn a_deployment_is_queued_in_progress_and_successful() {
    let client = Client::start(fast_options());
    let id = client.deploy();
    assert_eq!(id.len(), 24);
    let queued = client.deployment(&id);
    assert_eq!(queued["_id"], *id);
    assert_eq!(queued["projectId"], "demo-docs");
    assert_eq!(
        (&queued["status"], &queued["logs"]),
        (&json!("queued"), &json!([]))
    );
    for absent in ["endedAt", "summary", "screenshot"] {
        assert_eq!(queued.get(absent), None, "{absent}");
    }

    client.advance_clock(DURATION_MS / 2);
    let running = client.deployment(&id);
    assert_eq!(running["status"], "in_progress");
    assert_eq!(
        sentences(&running).last(),
        Some(&"Successfully updated deployment")
    );

    client.advance_clock(DURATION_MS / 2);
    let ended = client.deployment(&id);
    assert_eq!(ended["status"], "success");
    assert_eq!(
        sentences(&ended)[2..],
        [
            "Successfully updated deployment",
            "Successfully saved config",
            "Successfully indexed 40 page(s).",
            "Starting page revalidation...",
            "Page revalidation complete",
        ]
    );
    assert!(ended["endedAt"].as_str().unwrap() > ended["createdAt"].as_str().unwrap());
    assert_eq!(ended["subdomain"], "acme");
    assert_eq!(ended["source"], "api");
    assert_eq!(ended["commit"]["ref"], "main");
    assert_eq!(ended["commit"]["sha"].as_str().unwrap().len(), 40);
    assert!(ended["author"]["githubUserId"].is_number());
    assert!(ended["summary"].is_string() && ended["screenshotDark"].is_string());
}

#[test]
fn the_duration_follows_its_option() {
    let client = Client::start(Options {
        deployment_duration_ms: 0,
        ..fast_options()
    });
    let id = client.deploy();
    assert_eq!(client.deployment(&id)["status"], "success");
}

#[test]
fn the_control_api_sets_the_course_of_the_next_deployment() {
    let client = Client::start(fast_options());
    let (failed, last) = end(&client, "fail");
    assert_eq!(failed["status"], "failure");
    assert_eq!(failed["summary"], *last);
    assert_eq!(last, "Unable to find docs.json or mint.json");

    for (course, sentence) in [
        (
            "live-failure",
            "Failed to revalidate domain: docs.acme.example",
        ),
        ("subdomain-failure", "Failed to revalidate subdomain: acme"),
    ] {
        let (live, last) = end(&client, course);
        assert_eq!(live["status"], "failure");
        assert_eq!(
            (&live["summary"], last.as_str()),
            (&json!(sentence), sentence)
        );
        let sentences = sentences(&live);
        assert!(sentences.contains(&"Successfully updated deployment"));
        assert!(sentences.contains(&"Successfully indexed 40 page(s)."));
    }

    let id = client.deploy();
    client.advance_clock(DURATION_MS);
    assert_eq!(client.deployment(&id)["status"], "success");
    let unknown = client.control("POST", "/deployments", &json!({ "course": "sideways" }));
    assert_eq!(unknown.status, 400);
}

#[test]
fn a_slow_deployment_takes_ten_times_as_long_and_a_stuck_one_never_ends() {
    let projects = ["deploy-slow-docs", "deploy-stuck-docs"];
    let client = Client::start(Options {
        projects: projects.map(str::to_owned).to_vec(),
        ..fast_options()
    });
    let ids = projects.map(|project| {
        let response = client.post(&format!("/v1/project/update/{project}"), "");
        response.json()["statusId"].as_str().unwrap().to_owned()
    });
    let statuses = || {
        ids.each_ref()
            .map(|id| client.deployment(id)["status"].clone())
    };
    client.advance_clock(DURATION_MS * 2);
    assert_eq!(statuses(), ["in_progress", "in_progress"]);
    client.advance_clock(DURATION_MS * 8);
    assert_eq!(statuses(), ["success", "in_progress"]);
}

#[test]
fn the_status_of_every_project_is_found_by_its_id_alone() {
    let client = Client::start(fast_options());
    let added = json!({ "projectId": "empty-docs", "createdAt": 1_700_000_000_000_u64 });
    let target = "/deployments/656000000000000000000000";
    assert_eq!(client.control("PUT", target, &added).status, 204);
    let status = client.deployment("656000000000000000000000");
    assert_eq!(status["projectId"], "empty-docs");
    assert_eq!(status["createdAt"], "2023-11-14T22:13:20.000Z");
    assert_eq!(status["endedAt"], "2023-11-14T22:14:50.000Z");

    let unknown = client.get(&format!("{STATUS}/656000000000000000000001"));
    assert_eq!(unknown.status, 404);
    assert!(unknown.json()["error"].is_string());
    let target = format!("{STATUS}/656000000000000000000000");
    assert_eq!(client.send("GET", &target, &[], "").unwrap().status, 401);
}

#[test]
fn the_control_api_changes_and_lists_deployments() {
    let client = Client::start(fast_options());
    let bearer = format!("Bearer {KEY}");
    let headers = [
        ("authorization", bearer.as_str()),
        ("idempotency-key", "once"),
    ];
    let response = client.send("POST", UPDATE, &headers, "").unwrap();
    let id = response.json()["statusId"].as_str().unwrap().to_owned();
    let target = format!("/deployments/{id}");
    let fields = json!({ "status": "paused", "logs": ["One"], "summary": null });
    assert_eq!(client.control("POST", &target, &fields).status, 204);
    client.advance_clock(DURATION_MS);
    let status = client.deployment(&id);
    assert_eq!(
        (&status["status"], &status["logs"]),
        (&json!("paused"), &json!(["One"]))
    );
    assert_eq!(status.get("summary"), None);

    let listed = client.read_control("/deployments");
    let [listed] = listed.as_array().unwrap().as_slice() else {
        panic!("{listed}");
    };
    assert_eq!(*listed, client.read_control(&target));
    assert_eq!(listed["status"], "paused");
    assert_eq!(listed["branch"], Value::Null);
    assert_eq!(listed["origin"]["idempotencyKey"], "once");
    assert_eq!(listed["reads"]["count"], 1);
    assert_eq!(client.counter("deploymentsCreated"), 1);

    client.control("POST", "/deployments", &json!({ "course": "fail" }));
    client.control("POST", "/reset", &Value::Null);
    assert_eq!(client.read_control("/deployments"), json!([]));
    assert_eq!(client.get(&format!("{STATUS}/{id}")).status, 404);
    assert_eq!(client.counter("deploymentsCreated"), 0);
    let id = client.deploy();
    client.advance_clock(DURATION_MS);
    assert_eq!(client.deployment(&id)["status"], "success");
}

#[test]
fn deployments_and_automations_share_ten_requests_in_ten_seconds() {
    let client = Client::start(fast_options());
    let run = format!("{AUTOMATIONS}/weekly/trigger");
    for _ in 0..5 {
        assert_eq!(client.post(UPDATE, "").status, 202);
        assert_eq!(client.post(&run, "").status, 202);
    }
    let other = "/v1/project/update/empty-docs";
    for target in [UPDATE, &run, other] {
        let rejected = client.post(target, "");
        assert_eq!(rejected.status, 429, "{target}");
        assert!(rejected.json()["error"].is_string());
    }
    client.preview("main");
    client.advance_clock(10_000);
    assert_eq!(client.post(other, "").status, 202);
}

#[test]
fn the_control_api_changes_the_limits_of_deployments_and_previews() {
    let client = Client::start(fast_options());
    let limits = json!({ "deployment": 1, "preview": null });
    assert_eq!(client.control("POST", "/limits", &limits).status, 204);
    let changed = client.read_control("/limits");
    assert_eq!(
        (&changed["deployment"], &changed["preview"]),
        (&json!(1), &Value::Null)
    );
    client.deploy();
    assert_eq!(client.post(UPDATE, "").status, 429);
    client.advance_clock(10_000);
    client.deploy();
    client.control("DELETE", "/limits", &Value::Null);
    let restored = client.read_control("/limits");
    assert_eq!(
        (&restored["deployment"], &restored["preview"]),
        (&json!(10), &json!(5))
    );
}

#[test]
fn a_reset_clears_the_uses_of_the_limits() {
    let client = Client::start(Options {
        deployment_limit: 1,
        preview_limit: 1,
        ..fast_options()
    });
    client.deploy();
    client.preview("main");
    let preview = || client.post(PREVIEW, r#"{"branch": "main"}"#).status;
    let statuses = || (client.post(UPDATE, "").status, preview());
    assert_eq!(statuses(), (429, 429));
    client.control("POST", "/reset", &Value::Null);
    assert_eq!(statuses(), (202, 202));
}

#[test]
fn a_wrong_plan_is_401_and_for_previews_as_published_403() {
    for (profile, preview) in [(Profile::Published, 403), (Profile::Live, 401)] {
        let client = Client::start(Options {
            profile,
            projects: vec!["free-docs".to_owned()],
            ..fast_options()
        });
        let free = |target: &str| target.replace("demo-docs", "free-docs");
        let run = format!("{AUTOMATIONS}/weekly/trigger");
        for target in [UPDATE, run.as_str()] {
            let refusal = client.post(&free(target), "");
            assert_eq!(refusal.status, 401);
            assert!(refusal.text.contains("Upgrade"), "{}", refusal.text);
        }
        let refusal = client.post(&free(PREVIEW), r#"{"branch": "main"}"#);
        assert_eq!(refusal.status, preview, "{}", refusal.text);
        assert!(refusal.text.contains("plan"));
    }
}

#[test]
fn a_read_key_permits_only_the_status() {
    let client = Client::start(Options {
        read_key: Some("mint_reader".into()),
        ..fast_options()
    });
    let id = client.deploy();
    let headers = [("authorization", "Bearer mint_reader")];
    let status = |method: &str, target: &str| {
        let response = client.send(method, target, &headers, "");
        response.unwrap().status
    };
    assert_eq!(status("POST", UPDATE), 403);
    assert_eq!(status("GET", &format!("{STATUS}/{id}")), 200);
}

#[test]
fn faults_and_counters_name_the_operations() {
    let client = Client::start(fast_options());
    let id = client.deploy();
    let fault = json!({
        "operation": "deployments.get",
        "fault": { "kind": "status", "status": 503 },
    });
    assert_eq!(client.control("POST", "/faults", &fault).status, 201);
    client.deploy();
    assert_eq!(client.get(&format!("{STATUS}/{id}")).status, 503);
    assert_eq!(client.deployment(&id)["status"], "queued");
    let counts = client.read_control("/counters")["byOperation"].clone();
    assert_eq!(
        (&counts["deployments.create"], &counts["deployments.get"]),
        (&json!(2), &json!(2))
    );
    let requests = client.read_control("/requests");
    assert_eq!(requests[0]["operation"], "deployments.create");
}
