use quillgate::response::decode;
use quillgate::{
    AutomationId, Branch, CreateDeployment, CreatePreview, DecodeError, DeleteDeploymentRecord,
    Deployment, DeploymentPageSize, DeploymentStatus, Endpoint, GetDeployment, ListDeployments,
    Method, Progress, Request, Rule, RunAutomation, StatusId, StreamDeploymentEvents,
    StreamProjectDeploymentEvents,
};
use serde_json::{Value, json};

use crate::operations::project;

fn request(method: Method, target: &str) -> Request {
    crate::operations::request(method, target, None)
}

fn id() -> StatusId {
    StatusId::new("s/1").unwrap()
}

#[test]
fn a_deployment_is_started_without_a_body() {
    let expected = request(Method::Post, "/v1/project/update/acme");
    assert_eq!(CreateDeployment::default().request(&project()), expected);
}

#[test]
fn a_preview_sends_the_branch_in_the_body_unchanged() {
    for branch in ["docs/new#1", "ä 文档", "a?b=c&d", "..", " x "] {
        let sent = CreatePreview::new(Branch::new(branch).unwrap()).request(&project());
        assert_eq!(sent.target, "/v1/project/preview/acme");
        assert_eq!(sent.method, Method::Post);
        let body: Value = serde_json::from_str(&sent.body.unwrap()).unwrap();
        assert_eq!(body, json!({ "branch": branch }));
    }
}

#[test]
fn a_branch_needs_a_character() {
    let error = Branch::new("").unwrap_err();
    assert_eq!((&*error.field, error.rule), ("branch", Rule::NotEmpty));
    assert!(CreatePreview::parse(&json!({})).is_err());
}

#[test]
fn the_path_of_a_status_has_no_project() {
    let expected = request(Method::Get, "/v1/project/update-status/s%2F1");
    assert_eq!(GetDeployment::new(id()).request(&project()), expected);
}

#[test]
fn the_requests_for_records_and_streams_have_the_project() {
    let mut list = ListDeployments::default();
    let base = "/v1/project/acme/deployments";
    assert_eq!(list.request(&project()), request(Method::Get, base));
    list.limit = Some(DeploymentPageSize::MAX);
    assert_eq!(list.request(&project()).target, format!("{base}?limit=100"));
    let one = DeleteDeploymentRecord::parse(&json!({ "statusId": "s/1" })).unwrap();
    let expected = request(Method::Delete, &format!("{base}/s%2F1"));
    assert_eq!(one.request(&project()), expected);
    let events = StreamDeploymentEvents::parse(&json!({ "statusId": "s/1" })).unwrap();
    let expected = request(Method::Get, &format!("{base}/s%2F1/events"));
    assert_eq!(events.request(&project()), expected);
    let found = StreamProjectDeploymentEvents::default().request(&project());
    assert_eq!(found, request(Method::Get, &format!("{base}/events")));
}

#[test]
fn an_automation_is_run_without_a_body() {
    let run = RunAutomation::new(AutomationId::new("w 1").unwrap());
    let expected = request(Method::Post, "/v1/workflow/acme/w%201/trigger");
    assert_eq!(run.request(&project()), expected);
}

fn full() -> Value {
    json!({
        "_id": "s1",
        "projectId": "acme",
        "createdAt": "2026-11-30T08:00:00.000Z",
        "endedAt": "2026-11-30T08:01:30.000Z",
        "status": "success",
        "summary": "Successfully updated deployment",
        "logs": ["Started", "Successfully updated deployment"],
        "subdomain": "acme",
        "screenshot": "https://img.example/s.png",
        "screenshotLight": "https://img.example/l.png",
        "screenshotDark": "https://img.example/d.png",
        "author": { "name": "Ada", "avatarUrl": "https://img.example/a.png", "githubUserId": 7 },
        "commit": {
            "sha": "abc123",
            "ref": "main",
            "message": "Update the API",
            "filesChanged": { "added": ["a.mdx"], "modified": [], "removed": ["b.mdx"] },
        },
        "source": "api",
    })
}

fn read(body: &Value) -> Result<Deployment, DecodeError> {
    decode::<GetDeployment>(body.to_string().as_bytes())
}

#[test]
fn a_deployment_with_every_field_is_decoded_unchanged() {
    let deployment = read(&full()).unwrap();
    assert_eq!(serde_json::to_value(&deployment).unwrap(), full());
    assert_eq!(deployment.status, Some(DeploymentStatus::Success));
    let commit = deployment.commit.unwrap();
    let added = commit.files_changed.unwrap().added;
    assert_eq!(added, Some(vec!["a.mdx".to_owned()]));
}

#[test]
fn a_deployment_may_lack_every_field() {
    let empty = read(&json!({})).unwrap();
    let expected = (&None, &None, &None);
    assert_eq!((&empty.id, &empty.status, &empty.logs), expected);
    assert!(!empty.is_live());
    let mut sparse = json!({ "author": null, "commit": { "filesChanged": {} }, "more": 1 });
    assert_eq!(read(&sparse).unwrap().commit.unwrap().sha, None);
    sparse["logs"] = json!(["x", 7]);
    let error = read(&sparse).unwrap_err();
    let expected = "logs[1] must be a string, found a number";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_started_deployment_and_preview_need_their_id() {
    let started = decode::<CreateDeployment>(br#"{"statusId":"s1"}"#).unwrap();
    assert_eq!(StatusId::try_from(&started), StatusId::new("s1"));
    let expected = "statusId";
    assert_eq!(decode::<CreateDeployment>(b"{}").unwrap_err().at, expected);
    let preview = decode::<CreatePreview>(br#"{"statusId":"s2"}"#).unwrap();
    assert_eq!(preview.preview_url, None);
    assert_eq!(StatusId::try_from(&preview), StatusId::new("s2"));
}

#[test]
fn only_success_and_failure_end_a_deployment() {
    for (status, progress) in [
        ("queued", Progress::Running),
        ("in_progress", Progress::Running),
        ("success", Progress::Finished),
        ("failure", Progress::Finished),
        ("cancelled", Progress::Unknown),
        ("Success", Progress::Unknown),
        ("", Progress::Unknown),
    ] {
        let parsed = DeploymentStatus::from(status.to_owned());
        let found = DeploymentStatus::progress(Some(&parsed));
        assert_eq!(found, progress, "{status}");
        assert_eq!(parsed.as_str(), status);
    }
    assert_eq!(DeploymentStatus::progress(None), Progress::Unknown);
}

/// The clients share the table: `tests/package/deployments.test.mjs` reads it, too.
#[test]
fn is_live_follows_the_shared_table() {
    let rows: Vec<Value> = serde_json::from_str(include_str!("live_deployments.json")).unwrap();
    for row in &rows {
        let deployment = read(&row["deployment"]).unwrap();
        assert_eq!(json!(deployment.is_live()), row["isLive"], "{row}");
    }
    for is_live in [true, false] {
        let count = rows.iter().filter(|row| row["isLive"] == is_live).count();
        assert!(count >= 3, "only {count} rows are {is_live}");
    }
}
