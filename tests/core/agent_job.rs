use quillgate::response::{decode, decode_result};
use quillgate::{
    AgentJob, CreateAgentJob, DecodeError, Endpoint, GetAgentJob, JobId, JobStatus, Prompt,
    SendMessage,
};
use serde_json::{Value, json};

const FIELDS: [&str; 7] = [
    "id",
    "status",
    "source",
    "model",
    "prLink",
    "createdAt",
    "archivedAt",
];

fn body() -> Value {
    json!({
        "id": "job_1",
        "status": "completed",
        "source": {"repository": "acme/docs", "ref": "main"},
        "model": "writer-2",
        "prLink": "https://code.example/acme/docs/pull/7",
        "createdAt": "2024-02-29T12:00:00Z",
        "archivedAt": "2024-03-01T12:00:00Z",
    })
}

fn read(body: &Value) -> Result<AgentJob, DecodeError> {
    decode::<GetAgentJob>(body.to_string().as_bytes())
}

fn full() -> AgentJob {
    let mut job = read(&json!({ "source": {} })).unwrap();
    job.id = Some("job_1".into());
    job.status = Some(JobStatus::Completed);
    let source = job.source.as_mut().unwrap();
    source.repository = Some("acme/docs".into());
    source.reference = Some("main".into());
    job.model = Some("writer-2".into());
    job.pr_link = Some("https://code.example/acme/docs/pull/7".into());
    job.created_at = Some("2024-02-29T12:00:00Z".into());
    job.archived_at = Some("2024-03-01T12:00:00Z".into());
    job
}

#[test]
fn all_three_operations_decode_a_job_with_every_field() {
    let text = body().to_string();
    let created = decode::<CreateAgentJob>(text.as_bytes()).unwrap();
    assert_eq!(serde_json::to_value(created).unwrap(), body());
    assert_eq!(decode::<GetAgentJob>(text.as_bytes()).unwrap(), full());
    assert_eq!(decode::<SendMessage>(text.as_bytes()).unwrap(), full());
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
fn a_field_of_the_wrong_type_is_reported_by_its_path() {
    for field in FIELDS {
        for wrong in [json!(7), json!(true), json!(["x"]), json!(1.5), json!([])] {
            let mut body = body();
            body[field] = wrong.clone();
            let error = read(&body).expect_err(field);
            assert_eq!(error.at, field, "{wrong}");
            assert!(error.what.starts_with("must be "), "{error}");
        }
    }
    for field in ["repository", "ref"] {
        for wrong in [json!(7), json!(true), json!(["x"]), json!({})] {
            let error = read(&json!({"source": {field: wrong}})).expect_err(field);
            assert_eq!(error.at, format!("source.{field}"));
        }
    }
    for field in FIELDS.into_iter().filter(|field| *field != "source") {
        assert_eq!(read(&json!({field: {}})).expect_err(field).at, field);
    }
    let found = read(&json!({"source": "acme/docs"})).unwrap_err().at;
    assert_eq!(found, "source");
}

#[test]
fn an_array_is_not_decoded_as_an_object() {
    let values = json!(["job_1", "active", null, null, null, null, null]);
    for (body, at) in [
        (values, ""),
        (json!({"source": ["acme/docs", "main"]}), "source"),
    ] {
        assert_eq!(read(&body).unwrap_err().at, at);
    }
}

#[test]
fn unknown_fields_are_ignored() {
    let mut body = body();
    body["cost"] = json!({"deep": [[[{"status": 7}]]]});
    body["source"]["host"] = json!(null);
    body["pr_link"] = json!(7);
    body["Status"] = json!(7);
    assert_eq!(read(&body).unwrap(), full());
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
