use serde_json::json;

use crate::client::{Client, KEY, PREVIEW, fast_options};

const DURATION_MS: u64 = 90_000;

#[test]
fn a_preview_has_a_status_and_the_url_of_its_branch() {
    let client = Client::start(fast_options());
    let (id, url) = client.preview("docs/fix-links");
    assert_eq!(url, "https://acme-docs-fix-links.mintlify.site");
    client.advance_clock(DURATION_MS);
    let status = client.deployment(&id);
    assert_eq!(status["status"], "success");
    assert_eq!(status["commit"]["ref"], "docs/fix-links");
    assert_eq!(
        status["summary"],
        format!("Your changes are now live at {url}!")
    );
    assert!(!status["logs"].to_string().contains("Successfully indexed"));
    let (again, same_url) = client.preview("docs/fix-links");
    assert_eq!((again == id, same_url), (false, url.clone()));

    let listed = &client.read_control("/deployments")[0];
    assert_eq!(listed["branch"], "docs/fix-links");
    assert_eq!(listed["previewUrl"], url);
    assert_eq!(client.counter("previewsCreated"), 2);
    assert_eq!(client.counter("deploymentsCreated"), 0);
}

#[test]
fn the_host_of_a_long_branch_is_cut() {
    let client = Client::start(fast_options());
    let (_, url) = client.preview(&"long/".repeat(40));
    let label = url
        .strip_prefix("https://")
        .and_then(|url| url.strip_suffix(".mintlify.site"));
    assert_eq!(label.unwrap().len(), 63);
}

#[test]
fn the_branch_selects_the_course() {
    let client = Client::start(fast_options());
    let branches = [
        ("main", "success"),
        ("mintlify/fail-links", "failure"),
        ("live-failure-links", "failure"),
        ("slow-links", "queued"),
        ("stuck-links", "in_progress"),
    ];
    let ids = branches.map(|(branch, _)| client.preview(branch).0);
    client.advance_clock(DURATION_MS);
    for ((branch, status), id) in branches.iter().zip(&ids) {
        assert_eq!(client.deployment(id)["status"], *status, "{branch}");
    }
}

#[test]
fn a_preview_requires_a_branch_in_json() {
    let client = Client::start(fast_options());
    for body in [
        "",
        "{",
        "[]",
        "{}",
        r#"{"branch": ""}"#,
        r#"{"branch": 7}"#,
        r#"{"branch": null}"#,
    ] {
        let response = client.post(PREVIEW, body);
        let error = json!({ "error": "The branch field is required" });
        assert_eq!((response.status, response.json()), (400, error), "{body}");
    }
    let bearer = format!("Bearer {KEY}");
    let headers = [
        ("authorization", bearer.as_str()),
        ("content-type", "text/plain"),
    ];
    let response = client.send("POST", PREVIEW, &headers, r#"{"branch": "main"}"#);
    assert_eq!(response.unwrap().status, 400);
    assert_eq!(client.counter("previewsCreated"), 0);
}

#[test]
fn previews_are_limited_to_five_in_a_minute() {
    let client = Client::start(fast_options());
    for _ in 0..5 {
        client.preview("main");
    }
    let body = r#"{"branch": "main"}"#;
    assert_eq!(client.post(PREVIEW, "{}").status, 400);
    assert_eq!(client.post(PREVIEW, body).status, 429);
    client.deploy();
    client.advance_clock(30_000);
    assert_eq!(client.post(PREVIEW, body).status, 429);
    client.advance_clock(30_000);
    assert_eq!(client.post(PREVIEW, body).status, 202);
}
