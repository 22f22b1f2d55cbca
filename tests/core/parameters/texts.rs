//! Ids and prompts.

use quillgate::{
    CreateAgentJob, Endpoint, GetAgentJob, JobId, ProjectId, Prompt, Rule, SendMessage,
};
use serde_json::json;

use super::{assert_refused, query, refusal};

#[test]
fn a_prompt_has_to_be_text_with_at_least_one_character() {
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
            "prompt must be text, found a number",
        ),
        (
            json!({"prompt": false}),
            Rule::Text,
            "prompt must be text, found a boolean",
        ),
        (
            json!({"prompt": ["x"]}),
            Rule::Text,
            "prompt must be text, found an array",
        ),
        (
            json!({"prompt": {"text": "x"}}),
            Rule::Text,
            "prompt must be text, found an object",
        ),
        (json!(null), Rule::Required, "prompt is required"),
        (json!("x"), Rule::Required, "prompt is required"),
        (json!(["prompt"]), Rule::Required, "prompt is required"),
        (json!(3), Rule::Required, "prompt is required"),
    ] {
        assert_refused(&refusal::<CreateAgentJob>(&params), "prompt", rule, message);
    }
    let error = Prompt::new("").unwrap_err();
    let message = "prompt must have at least one character, found empty text";
    assert_refused(&error, "prompt", Rule::NotEmpty, message);
    for text in ["x", " ", "\n", "🪶"] {
        assert_eq!(Prompt::new(text).unwrap().as_str(), text);
    }
}

#[test]
fn an_id_has_to_be_text_that_can_stand_in_a_path() {
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
        (json!(7), Rule::Text, "id must be text, found a number"),
        (
            json!(["job_1"]),
            Rule::Text,
            "id must be text, found an array",
        ),
    ] {
        assert_refused(
            &refusal::<GetAgentJob>(&json!({"id": id})),
            "id",
            rule,
            message,
        );
        let both = json!({"id": id, "prompt": "x"});
        assert_refused(&refusal::<SendMessage>(&both), "id", rule, message);
    }
}

#[test]
fn ids_keep_the_same_rules_when_typed() {
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
        assert_refused(
            &JobId::new(id).unwrap_err(),
            "id",
            rule,
            &format!("id {found}"),
        );
        let error = ProjectId::new(id).unwrap_err();
        assert_refused(&error, "projectId", rule, &format!("projectId {found}"));
    }
}

#[test]
fn an_id_in_a_url_is_taken_as_text_even_when_it_looks_like_a_number() {
    let get = GetAgentJob::parse(&query(&[("id", "007")])).unwrap();
    assert_eq!(get, GetAgentJob::new(JobId::new("007").unwrap()));
    assert_refused(
        &refusal::<GetAgentJob>(&query(&[])),
        "id",
        Rule::Required,
        "id is required",
    );
}

#[test]
fn a_follow_up_needs_both_the_id_and_the_prompt() {
    let error = refusal::<SendMessage>(&json!({"prompt": "x"}));
    assert_refused(&error, "id", Rule::Required, "id is required");
    let error = refusal::<SendMessage>(&json!({"id": "job_1"}));
    assert_refused(&error, "prompt", Rule::Required, "prompt is required");
    SendMessage::parse(&json!({"id": "job_1", "prompt": "x"})).unwrap();
}
