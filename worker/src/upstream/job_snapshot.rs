use quillgate::pull_request::stated_link;
use quillgate::response::is_about;
use quillgate::schema::{HasJsonType as _, check};
use quillgate::text::{compact, replace_half_surrogates};
use quillgate::{AgentJob, JobId};

use crate::http::route::is_plain_segment;
use crate::json;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobSnapshot {
    pub http_status: u16,
    /// With half surrogates replaced.
    pub text: String,
    /// Without insignificant whitespace.
    pub data: String,
    pub id: Option<String>,
    pub status: Option<String>,
    /// See [`stated_link`].
    pub pr_link: Option<String>,
}

impl JobSnapshot {
    /// `None` if the job is malformed, if it is another job than `requested`, or if the id of a new
    /// job cannot be part of the gateway's paths.
    pub fn read(http_status: u16, body: &str, requested: Option<&str>) -> Option<Self> {
        let text = replace_half_surrogates(body);
        let job = json::parse(text.as_bytes())?;
        check(&job, &AgentJob::JSON_TYPE).ok()?;
        let member = |name| json::text(&job, name).map(str::to_owned);
        let id = member("id");
        let is_expected = match requested {
            Some(requested) => is_about(&job, "id", requested),
            None => id
                .as_ref()
                .is_some_and(|id| JobId::new(id).is_ok() && is_plain_segment(id)),
        };
        is_expected.then(|| Self {
            http_status,
            // Serializing the parsed value instead would reorder the job's properties.
            data: compact(&text),
            id,
            status: member("status"),
            pr_link: json::text(&job, "prLink")
                .and_then(stated_link)
                .map(str::to_owned),
            text: text.into_owned(),
        })
    }
}
