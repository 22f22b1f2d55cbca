use quillgate::response::decode;
use quillgate::{
    Branch, CreateDeployment, CreatePreview, DecodeError, Deployment, DeploymentStatus, Endpoint,
    GetDeployment, Progress, Rule, StatusId,
};
use serde_json::{Value, json};

#[test]
fn a_branch_needs_a_character() {
    let error = Branch::new("").unwrap_err();
    assert_eq!((&*error.field, error.rule), ("branch", Rule::NotEmpty));
    assert!(CreatePreview::parse(&json!({})).is_err());
}

fn read(body: &Value) -> Result<Deployment, DecodeError> {
    decode::<GetDeployment>(body.to_string().as_bytes())
}

#[test]
fn a_wrong_element_of_a_list_is_reported_by_its_index() {
    let error = read(&json!({ "logs": ["x", 7] })).unwrap_err();
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
