//! The course of a deployment: its states, sentences and end.

use serde::Deserialize;

/// The first two sentences of a log (docs/platform.md, 4.14).
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
const SUBDOMAIN_NOT_REVALIDATED: &str = "Failed to revalidate subdomain: acme";

/// How many times as long as others a slow deployment takes.
const SLOWNESS: u64 = 10;

/// The prefix of a project whose deployments have another course. The name of the course follows.
const PROJECT_PREFIX: &str = "deploy-";

/// The steps and the end of a deployment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Course {
    Success,
    /// Fails before anything is published.
    Fail,
    /// Publishes the content, but cannot revalidate the custom domain.
    LiveFailure,
    /// Publishes the content, but cannot revalidate the subdomain.
    SubdomainFailure,
    /// Succeeds after ten times the usual duration.
    Slow,
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
    /// The course that a name selects by its prefix.
    const PREFIXES: [(&str, Self); 5] = [
        ("fail-", Self::Fail),
        ("live-failure-", Self::LiveFailure),
        ("subdomain-failure-", Self::SubdomainFailure),
        ("slow-", Self::Slow),
        ("stuck-", Self::Stuck),
    ];

    /// The course of the deployments of a project, such as `deploy-slow-docs`.
    pub(super) fn of_project(project: &str) -> Self {
        let name = project.strip_prefix(PROJECT_PREFIX);
        name.and_then(Self::of_name).unwrap_or(Self::Success)
    }

    /// The course of the previews of a branch, such as `docs/slow-images`.
    pub(super) fn of_branch(branch: &str) -> Self {
        let course = branch.split('/').find_map(Self::of_name);
        course.unwrap_or(Self::Success)
    }

    fn of_name(name: &str) -> Option<Self> {
        let mut prefixes = Self::PREFIXES.iter();
        let (_, course) = prefixes.find(|(prefix, _)| name.starts_with(prefix))?;
        Some(*course)
    }

    /// The state `elapsed_ms` after the start. `duration_ms` is the usual duration.
    pub(super) fn progress(self, elapsed_ms: u64, duration_ms: u64, site: &Site<'_>) -> Progress {
        let factor = if self == Self::Slow { SLOWNESS } else { 1 };
        let duration_ms = duration_ms.saturating_mul(factor);
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
            Self::SubdomainFailure => Some(SUBDOMAIN_NOT_REVALIDATED),
            Self::Success | Self::Slow | Self::Stuck => None,
        }
    }
}
