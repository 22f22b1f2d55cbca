//! Validation of ids and prompts.

use quillgate::{
    CreateAgentJob, FeedbackStatuses, GetAgentJob, JobId, ProjectId, Prompt, Rule, SendMessage,
};
use serde_json::json;

use super::{assert_rejected, rejection};

#[test]
fn a_prompt_must_be_a_non_empty_string() {
    let no_text = "prompt must have at least one character, found empty text";
    for params in [
        json!({}),
        json!({"prompt": null}),
        json!(null),
        json!(["prompt"]),
    ] {
        let error = rejection::<CreateAgentJob>(&params);
        assert_rejected(&error, "prompt", Rule::Required, "prompt is required");
    }
    for (value, found) in [
        (json!(1), "a number"),
        (json!(false), "a boolean"),
        (json!(["x"]), "an array"),
        (json!({"text": "x"}), "an object"),
    ] {
        let error = rejection::<CreateAgentJob>(&json!({ "prompt": value }));
        let message = format!("prompt must be a string, found {found}");
        assert_rejected(&error, "prompt", Rule::Text, &message);
    }
    for error in [
        rejection::<CreateAgentJob>(&json!({"prompt": ""})),
        Prompt::new("").unwrap_err(),
    ] {
        assert_rejected(&error, "prompt", Rule::NotEmpty, no_text);
    }
    for text in ["x", " ", "\n", "🪶"] {
        assert_eq!(Prompt::new(text).unwrap().as_str(), text);
    }
}

#[test]
fn an_id_must_be_a_string_that_fits_in_a_path_segment() {
    const DOTS: &str = "must not be \".\" or \"..\", found";
    for (id, rule, message) in [
        (json!(null), Rule::Required, "is required".to_owned()),
        (json!("."), Rule::NotDotSegment, format!("{DOTS} \".\"")),
        (json!(".."), Rule::NotDotSegment, format!("{DOTS} \"..\"")),
        (
            json!(""),
            Rule::NotEmpty,
            "must have at least one character, found empty text".to_owned(),
        ),
        (
            json!(7),
            Rule::Text,
            "must be a string, found a number".to_owned(),
        ),
    ] {
        for error in [
            rejection::<GetAgentJob>(&json!({ "id": id })),
            rejection::<SendMessage>(&json!({ "id": id, "prompt": "x" })),
        ] {
            assert_rejected(&error, "id", rule, &format!("id {message}"));
        }
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
