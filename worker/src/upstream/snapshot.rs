//! Responses with an agent job, a deployment or a run of an automation.

use quillgate::deployment::is_live;
use quillgate::pull_request::stated_link;
use quillgate::response::is_about;
use quillgate::schema::{HasJsonType, check};
use quillgate::text::{compact, replace_half_surrogates};
use quillgate::{
    AgentJob, AutomationRun, Deployment, DeploymentStatus, JobId, StartedPreview, StatusId,
};
use serde_json::{Value, json};

use crate::http::route::is_plain_segment;
use crate::json;

/// A response, and the properties of the job or the deployment that the gateway stores.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// The HTTP status, which the gateway returns unchanged.
    pub http_status: u16,
    /// The body with half surrogates replaced.
    pub text: String,
    /// The state without insignificant whitespace.
    pub data: String,
    /// `None` if the response names no job and no deployment.
    pub id: Option<String>,
    pub status: Option<String>,
    /// See [`stated_link`].
    pub pr_link: Option<String>,
    pub preview_url: Option<String>,
    pub is_live: Option<bool>,
}

impl Snapshot {
    /// Returns `None` if the job is malformed, if it is another job than `requested`, or if the id
    /// of a new job cannot be part of the gateway's paths.
    pub fn read_job(http_status: u16, body: &str, requested: Option<&str>) -> Option<Self> {
        let (text, job) = parse::<AgentJob>(body)?;
        let id = requested.or_else(|| json::text(&job, "id"))?;
        let is_expected = match requested {
            Some(requested) => is_about(&job, "id", requested),
            None => JobId::new(id).is_ok() && is_plain_segment(id),
        };
        is_expected.then(|| Self {
            http_status,
            data: write_data(&text, &job, "id", id),
            id: Some(id.to_owned()),
            status: json::text(&job, "status").map(str::to_owned),
            pr_link: json::text(&job, "prLink")
                .and_then(stated_link)
                .map(str::to_owned),
            text,
            ..Self::default()
        })
    }

    /// Returns `None` if the deployment is malformed, or if it is another deployment than
    /// `requested` or of another project than `project`.
    pub fn read_deployment(
        http_status: u16,
        body: &str,
        requested: &str,
        project: Option<&str>,
    ) -> Option<Self> {
        let (text, deployment) = parse::<Deployment>(body)?;
        let is_of_project = project.is_none_or(|own| is_about(&deployment, "projectId", own));
        if !is_of_project || !is_about(&deployment, "_id", requested) {
            return None;
        }
        Some(Self {
            http_status,
            data: write_data(&text, &deployment, "_id", requested),
            id: Some(requested.to_owned()),
            status: json::text(&deployment, "status").map(str::to_owned),
            is_live: find_live(&deployment),
            text,
            ..Self::default()
        })
    }

    /// Reads the response that starts a deployment or a preview. It has no state: the deployment is
    /// queued (docs/mintlify/deployments.md, 4.12). Returns `None` if the id cannot be part of a
    /// path.
    pub fn read_started(http_status: u16, body: &str) -> Option<Self> {
        let (text, started) = parse::<StartedPreview>(body)?;
        let id = json::text(&started, "statusId")?;
        if StatusId::new(id).is_err() || !is_plain_segment(id) {
            return None;
        }
        let status = DeploymentStatus::Queued;
        let preview_url = json::text(&started, "previewUrl").and_then(stated_link);
        Some(Self {
            http_status,
            data: json!({ "_id": id, "status": status }).to_string(),
            id: Some(id.to_owned()),
            status: Some(status.as_str().to_owned()),
            preview_url: preview_url.map(str::to_owned),
            text,
            ..Self::default()
        })
    }

    /// Reads the response that queues a run of an automation. The gateway stores no state of it.
    pub fn read_run(http_status: u16, body: &str) -> Option<Self> {
        let (text, _) = parse::<AutomationRun>(body)?;
        Some(Self {
            http_status,
            text,
            ..Self::default()
        })
    }
}

/// Adds the id if it is missing, because webhooks and stored states need it.
fn write_data(text: &str, value: &Value, member: &str, id: &str) -> String {
    if json::text(value, member).is_some() {
        // Serializing the parsed value instead would reorder its properties.
        return compact(text);
    }
    let mut named = value.clone();
    named[member] = id.into();
    named.to_string()
}

fn parse<T: HasJsonType>(body: &str) -> Option<(String, Value)> {
    let text = replace_half_surrogates(body);
    let value = json::parse(text.as_bytes())?;
    check(&value, &T::JSON_TYPE).ok()?;
    Some((text.into_owned(), value))
}

/// Whether a deployment is live: see [`is_live`]. `None` until it has ended.
pub fn find_live(deployment: &Value) -> Option<bool> {
    let status = json::text(deployment, "status")?.to_owned();
    let status = DeploymentStatus::from(status);
    let logs = deployment.get("logs").and_then(Value::as_array);
    let logs = logs.into_iter().flatten().filter_map(Value::as_str);
    status
        .is_terminal()
        .then(|| is_live(Some(&status), json::text(deployment, "summary"), logs))
}
