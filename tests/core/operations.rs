use quillgate::{
    CreateAgentJob, Endpoint, GetAgentJob, JobId, ListPageViews, ProjectId, Prompt, SendMessage,
};
use serde_json::json;

/// Ids that would change the route without encoding, and their encoded forms.
const HOSTILE: &[(&str, &str)] = &[
    ("a/../b?x=1#y", "a%2F..%2Fb%3Fx%3D1%23y"),
    (
        "../../v1/analytics/acme/views",
        "..%2F..%2Fv1%2Fanalytics%2Facme%2Fviews",
    ),
    ("%2e%2e", "%252e%252e"),
    ("%2F", "%252F"),
    ("...", "..."),
    ("..\\..", "..%5C.."),
    (" ", "%20"),
    ("a+b&c=d;e,f", "a%2Bb%26c%3Dd%3Be%2Cf"),
    ("文档-é", "%E6%96%87%E6%A1%A3-%C3%A9"),
    ("🪶", "%F0%9F%AA%B6"),
    ("//evil.example/", "%2F%2Fevil.example%2F"),
    ("{projectId}", "%7BprojectId%7D"),
];

pub fn project() -> ProjectId {
    ProjectId::new("acme").unwrap()
}

fn prompt() -> Prompt {
    Prompt::new("Fix the \"start\" page\n").unwrap()
}

#[test]
fn a_hostile_project_id_stays_one_path_segment() {
    for (id, segment) in HOSTILE {
        let project = ProjectId::new(*id).unwrap();
        let found = CreateAgentJob::new(prompt()).request(&project).target;
        assert_eq!(found, format!("/v2/agent/{segment}/job"));
        let expected = format!("/v1/analytics/{segment}/views");
        assert_eq!(ListPageViews::default().request(&project).target, expected);
        assert_eq!(project.as_str(), *id);
    }
}

#[test]
fn a_hostile_job_id_stays_one_path_segment() {
    for (id, segment) in HOSTILE {
        let job = JobId::new(*id).unwrap();
        let found = GetAgentJob::new(job.clone()).request(&project()).target;
        assert_eq!(found, format!("/v2/agent/acme/job/{segment}"));
        let found = SendMessage::new(job.clone(), prompt())
            .request(&project())
            .target;
        assert_eq!(found, format!("/v2/agent/acme/job/{segment}/message"));
        assert_eq!(job.as_str(), *id);
    }
}

#[test]
fn a_prompt_cannot_add_fields_to_the_body() {
    for text in [
        r#"x","model":"big"#,
        "\\",
        "\u{2028}\u{7}\u{0}",
        "{}",
        "文档 🪶",
        " ",
        "</script>",
    ] {
        let request = CreateAgentJob::new(Prompt::new(text).unwrap()).request(&project());
        let body: serde_json::Value = serde_json::from_str(&request.body.unwrap()).unwrap();
        assert_eq!(body, json!({"prompt": text}));
    }
}
