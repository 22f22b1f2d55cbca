//! Validation of ids and prompts.

use quillgate::{
    CreateAgentJob, Endpoint, FeedbackStatuses, GetAgentJob, JobId, ProjectId, Prompt, Rule,
    SendMessage,
};
use serde_json::json;

use super::{assert_rejected, query, rejection};

#[test]
fn a_prompt_must_be_a_non_empty_string() {
    for (params, rule, message) in [
        (json!({}), Rule::Required, "prompt is required"),
        (
            json!({"prompt": null}),
            Rule::Required,
            "prompt is required",
        ),
        (
            json!({"prompt": ""}),
            Rule::NotEmpty,
            "prompt must have at least one character, found empty text",
        ),
        (
            json!({"prompt": 1}),
            Rule::Text,
            "prompt must be a string, found a number",
        ),
        (
            json!({"prompt": false}),
            Rule::Text,
            "prompt must be a string, found a boolean",
        ),
        (
            json!({"prompt": ["x"]}),
            Rule::Text,
            "prompt must be a string, found an array",
        ),
        (
            json!({"prompt": {"text": "x"}}),
            Rule::Text,
            "prompt must be a string, found an object",
        ),
        (json!(null), Rule::Required, "prompt is required"),
        (json!("x"), Rule::Required, "prompt is required"),
        (json!(["prompt"]), Rule::Required, "prompt is required"),
        (json!(3), Rule::Required, "prompt is required"),
    ] {
        assert_rejected(
            &rejection::<CreateAgentJob>(&params),
            "prompt",
            rule,
            message,
        );
    }
    let error = Prompt::new("").unwrap_err();
    let message = "prompt must have at least one character, found empty text";
    assert_rejected(&error, "prompt", Rule::NotEmpty, message);
    for text in ["x", " ", "\n", "🪶"] {
        assert_eq!(Prompt::new(text).unwrap().as_str(), text);
    }
}

#[test]
fn an_id_must_be_a_string_that_fits_in_a_path_segment() {
    for (id, rule, message) in [
        (json!(null), Rule::Required, "id is required"),
        (
            json!(""),
            Rule::NotEmpty,
            "id must have at least one character, found empty text",
        ),
        (
            json!("."),
            Rule::NotDotSegment,
            "id must not be \".\" or \"..\", found \".\"",
        ),
        (
            json!(".."),
            Rule::NotDotSegment,
            "id must not be \".\" or \"..\", found \"..\"",
        ),
        (json!(7), Rule::Text, "id must be a string, found a number"),
        (
            json!(["job_1"]),
            Rule::Text,
            "id must be a string, found an array",
        ),
    ] {
        assert_rejected(
            &rejection::<GetAgentJob>(&json!({"id": id})),
            "id",
            rule,
            message,
        );
        let both = json!({"id": id, "prompt": "x"});
        assert_rejected(&rejection::<SendMessage>(&both), "id", rule, message);
    }
}

#[test]
fn typed_ids_follow_the_same_rules() {
    for (id, rule, found) in [
        (
            "",
            Rule::NotEmpty,
            "must have at least one character, found empty text",
        ),
        (
            ".",
            Rule::NotDotSegment,
            "must not be \".\" or \"..\", found \".\"",
        ),
        (
            "..",
            Rule::NotDotSegment,
            "must not be \".\" or \"..\", found \"..\"",
        ),
    ] {
        assert_rejected(
            &JobId::new(id).unwrap_err(),
            "id",
            rule,
            &format!("id {found}"),
        );
        let error = ProjectId::new(id).unwrap_err();
        assert_rejected(&error, "projectId", rule, &format!("projectId {found}"));
    }
}

#[test]
fn an_id_has_at_most_256_bytes() {
    for longest in ["a".repeat(256), "é".repeat(128)] {
        assert!(JobId::new(longest.as_str()).is_ok());
        assert!(ProjectId::new(longest.as_str()).is_ok());
        let id = format!("{longest}a");
        let text = "must be at most 256 bytes long in UTF-8, found 257 bytes";
        let error = JobId::new(id.as_str()).unwrap_err();
        assert_rejected(&error, "id", Rule::IdLength, &format!("id {text}"));
        let error = ProjectId::new(id.as_str()).unwrap_err();
        assert_rejected(
            &error,
            "projectId",
            Rule::IdLength,
            &format!("projectId {text}"),
        );
        let error = rejection::<GetAgentJob>(&json!({ "id": id }));
        assert_rejected(&error, "id", Rule::IdLength, &format!("id {text}"));
    }
}

#[test]
fn an_id_has_no_control_character() {
    for id in ["docs\r", "\r\nHost: evil", "do\0cs", "docs\u{85}"] {
        let violation = ProjectId::new(id).unwrap_err();
        assert_eq!(violation.rule, Rule::NoControlCharacter);
        assert!(!violation.to_string().contains(char::is_control));
    }
}

#[test]
fn an_id_in_a_url_stays_a_string_even_if_it_looks_like_a_number() {
    let get = GetAgentJob::parse(&query(&[("id", "007")])).unwrap();
    assert_eq!(get, GetAgentJob::new(JobId::new("007").unwrap()));
    assert_rejected(
        &rejection::<GetAgentJob>(&query(&[])),
        "id",
        Rule::Required,
        "id is required",
    );
}

#[test]
fn a_follow_up_requires_an_id_and_a_prompt() {
    let error = rejection::<SendMessage>(&json!({"prompt": "x"}));
    assert_rejected(&error, "id", Rule::Required, "id is required");
    let error = rejection::<SendMessage>(&json!({"id": "job_1"}));
    assert_rejected(&error, "prompt", Rule::Required, "prompt is required");
    SendMessage::parse(&json!({"id": "job_1", "prompt": "x"})).unwrap();
}

#[test]
fn each_status_of_feedback_must_be_known() {
    for statuses in ["pending", "pending,in_progress,resolved,dismissed"] {
        assert_eq!(FeedbackStatuses::new(statuses).unwrap().as_str(), statuses);
    }
    for statuses in ["", "pendng", "pending,", "pending, resolved", "Pending"] {
        let error = FeedbackStatuses::new(statuses).unwrap_err();
        assert_eq!(error.field, "status", "{statuses}");
        assert_eq!(
            error.rule,
            Rule::OneOf(&["pending", "in_progress", "resolved", "dismissed"])
        );
    }
}
