//! The course of a deployment: its states, sentences and end.

use serde::Deserialize;

/// The first two sentences of a log (docs/mintlify/deployments.md, 4.14).
const STARTED: [&str; 2] = [
    "Verified update permissions",
    "Fetching and validating config file...",
];
const PUBLISHED: &str = "Successfully updated deployment";
const SAVED: &str = "Successfully saved config";
const NOT_INDEXED: &str = "Skipped search indexing (preview indexing paused)";
const REVALIDATING: &str = "Starting page revalidation...";
const REVALIDATED: &str = "Page revalidation complete";
const NO_CONFIG: &str = "Unable to find docs.json or mint.json";
const DOMAIN_NOT_REVALIDATED: &str = "Failed to revalidate domain: docs.acme.example";

/// The steps and the end of a deployment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Course {
    Success,
    /// Fails before anything is published.
    Fail,
    /// Publishes the content, but cannot revalidate the custom domain.
    LiveFailure,
    /// Stays in progress.
    Stuck,
}

/// The published site.
pub(super) struct Site<'a> {
    pub(super) url: &'a str,
    /// The number of pages for the search index. Previews have no index.
    pub(super) indexed_pages: Option<u32>,
}

/// The state of a deployment at some time.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Progress {
    pub(super) status: &'static str,
    pub(super) summary: Option<String>,
    pub(super) logs: Vec<String>,
    pub(super) ended_after_ms: Option<u64>,
}

impl Course {
    /// The state `elapsed_ms` after the start of a deployment that takes `duration_ms`.
    pub(super) fn progress(self, elapsed_ms: u64, duration_ms: u64, site: &Site<'_>) -> Progress {
        let has_ended = self != Self::Stuck && elapsed_ms >= duration_ms;
        let has_reached = |ninths: u64| elapsed_ms >= duration_ms / 9 * ninths || has_ended;

        let mut logs = Vec::new();
        if has_reached(1) {
            logs.extend(STARTED.map(str::to_owned));
        }
        if !matches!(self, Self::Fail | Self::Stuck) {
            let steps = [(4, PUBLISHED), (7, SAVED)];
            let reached = steps.iter().filter(|(ninths, _)| has_reached(*ninths));
            logs.extend(reached.map(|(_, sentence)| (*sentence).to_owned()));
        }
        if !has_ended {
            let is_started = has_reached(1);
            return Progress {
                status: if is_started { "in_progress" } else { "queued" },
                summary: None,
                logs,
                ended_after_ms: None,
            };
        }
        if self != Self::Fail {
            logs.push(match site.indexed_pages {
                Some(pages) => format!("Successfully indexed {pages} page(s)."),
                None => NOT_INDEXED.to_owned(),
            });
            logs.push(REVALIDATING.to_owned());
        }
        let failure = self.failure();
        logs.push(failure.unwrap_or(REVALIDATED).to_owned());
        Progress {
            status: failure.map_or("success", |_| "failure"),
            summary: Some(failure.map_or_else(
                || format!("Your changes are now live at {}!", site.url),
                str::to_owned,
            )),
            logs,
            ended_after_ms: Some(duration_ms),
        }
    }

    /// The sentence about the failure.
    fn failure(self) -> Option<&'static str> {
        match self {
            Self::Fail => Some(NO_CONFIG),
            Self::LiveFailure => Some(DOMAIN_NOT_REVALIDATED),
            Self::Success | Self::Stuck => None,
        }
    }
}
