use quillgate::response::{decode, decode_result};
use quillgate::{
    AgentJob, CreateAgentJob, DecodeError, Endpoint, GetAgentJob, JobId, JobStatus, Prompt,
    SendMessage,
};
use serde_json::{Value, json};

fn read(body: &Value) -> Result<AgentJob, DecodeError> {
    decode::<GetAgentJob>(body.to_string().as_bytes())
}

#[test]
fn of_a_created_job_only_the_id_is_required() {
    let created = decode::<CreateAgentJob>(br#"{"id":"job_1"}"#).unwrap();
    assert_eq!(JobId::try_from(&created), JobId::new("job_1"));
    for id in [json!(null), json!(7)] {
        let body = json!({ "id": id, "status": "active" }).to_string();
        let error = decode::<CreateAgentJob>(body.as_bytes()).unwrap_err();
        assert_eq!(error.at, "id");
    }
}

#[test]
fn unknown_fields_are_ignored() {
    let body = json!({
        "cost": {"deep": [[[{"status": 7}]]]},
        "source": {"host": null},
        "pr_link": 7,
        "Status": 7,
    });
    let job = read(&body).unwrap();
    assert_eq!((job.status, job.pr_link), (None, None));
}

#[test]
fn an_unknown_status_is_preserved_and_not_terminal() {
    for text in [
        "queued",
        "",
        "Completed",
        "completed ",
        "ACTIVE",
        "cancelled",
        "完了",
    ] {
        let status = read(&json!({ "status": text })).unwrap().status.unwrap();
        assert_eq!(status, JobStatus::Other(text.to_owned()));
        assert_eq!(status.as_str(), text);
        assert!(!status.is_terminal() && !status.is_known(), "{text}");
        assert_eq!(serde_json::to_value(&status).unwrap(), json!(text));
    }
    assert_eq!(read(&json!({ "status": 7 })).unwrap_err().at, "status");
}

#[test]
fn every_known_status_except_active_is_terminal() {
    for (text, status, terminal) in [
        ("active", JobStatus::Active, false),
        ("completed", JobStatus::Completed, true),
        ("archived", JobStatus::Archived, true),
        ("failed", JobStatus::Failed, true),
    ] {
        let expected = Some(status.clone());
        assert_eq!(read(&json!({ "status": text })).unwrap().status, expected);
        assert_eq!(JobStatus::from(text.to_owned()), status);
        let found = (status.is_terminal(), status.is_known());
        assert_eq!(found, (terminal, true), "{text}");
        assert_eq!(status.as_str(), text);
    }
}

#[test]
fn debug_output_hides_the_prompt() {
    let prompt = Prompt::new("the merger is secret").unwrap();
    let output = format!("{prompt:?} {:?}", CreateAgentJob::new(prompt.clone()));
    let expected = "Prompt(20 bytes) CreateAgentJob { prompt: Prompt(20 bytes) }";
    assert_eq!(output, expected);
}

#[test]
fn a_result_about_another_job_is_malformed() {
    let id = JobId::new("j1").unwrap();
    let calls = [
        GetAgentJob::new(id.clone()).to_call(),
        SendMessage::new(id, Prompt::new("x").unwrap()).to_call(),
    ];
    for call in &calls {
        let read = |body: &str| decode_result::<GetAgentJob>(call, body.as_bytes());
        for body in [r#"{"id":"j1"}"#, r#"{"id":null}"#, "{}"] {
            assert!(read(body).is_ok(), "{body}");
        }
        let error = read(r#"{"id":"j2"}"#).unwrap_err();
        assert_eq!(error.at, "id");
        assert_eq!(error.what, "must be the requested id, found another one");
    }
    let created = CreateAgentJob::new(Prompt::new("x").unwrap()).to_call();
    assert!(decode_result::<CreateAgentJob>(&created, br#"{"id":"j2"}"#).is_ok());
}

#[test]
fn half_surrogates_do_not_make_a_job_unreadable() {
    let job = decode::<GetAgentJob>(br#"{"id":"j1","model":"\ud83d","more":"\udc00"}"#).unwrap();
    assert_eq!(job.model.as_deref(), Some("\u{fffd}"));
}
