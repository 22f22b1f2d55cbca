//! The operations of the API: their names in counters and faults, their routes and
//! the parameters of their queries.

use axum::extract::{MatchedPath, Request};
use axum::http::Method;
use serde::{Deserialize, Serialize};

use crate::data::SOURCES;
use crate::parameters::{Kind, Parameter};

/// What the paths of all reports begin with.
const ANALYTICS: &str = "/v1/analytics/{projectId}/";

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Operation {
    #[serde(rename = "agentJobs.create")]
    CreateJob,
    #[serde(rename = "agentJobs.get")]
    GetJob,
    #[serde(rename = "agentJobs.sendMessage")]
    SendMessage,
    #[serde(rename = "analytics.views", alias = "pageViews.list")]
    ListViews,
    #[serde(rename = "analytics.visitors")]
    ListVisitors,
    #[serde(rename = "analytics.feedback")]
    ListFeedback,
    #[serde(rename = "analytics.feedbackByPage")]
    ListFeedbackByPage,
    #[serde(rename = "analytics.searches")]
    ListSearches,
    #[serde(rename = "analytics.conversations")]
    ListConversations,
    #[serde(rename = "analytics.conversation")]
    GetConversation,
    #[serde(rename = "analytics.callerStats")]
    GetCallerStats,
    /// A path or a method that the API does not have.
    #[serde(rename = "other")]
    Other,
}

impl Operation {
    pub(crate) const ALL: [Self; 12] = [
        Self::CreateJob,
        Self::GetJob,
        Self::SendMessage,
        Self::ListViews,
        Self::ListVisitors,
        Self::ListFeedback,
        Self::ListFeedbackByPage,
        Self::ListSearches,
        Self::ListConversations,
        Self::GetConversation,
        Self::GetCallerStats,
        Self::Other,
    ];

    pub(crate) fn of(request: &Request) -> Self {
        let path = request
            .extensions()
            .get::<MatchedPath>()
            .map(MatchedPath::as_str);
        let asked = |operation: &Self| {
            operation
                .route()
                .is_some_and(|(method, route)| method == request.method() && Some(route) == path)
        };
        let operation = Self::ALL.into_iter().find(asked);
        operation.unwrap_or(Self::Other)
    }

    /// The list or the counts with that name, which is the end of its path.
    pub(crate) fn of_report(report: &str) -> Option<Self> {
        let named = |operation: &Self| {
            operation
                .route()
                .and_then(|(_, path)| path.strip_prefix(ANALYTICS))
                .is_some_and(|end| end == report && !end.contains('{'))
        };
        Self::ALL.into_iter().find(named)
    }

    /// The method and the path of a request; `None` for [`Self::Other`].
    pub(crate) fn route(self) -> Option<(Method, &'static str)> {
        let route = match self {
            Self::CreateJob => (Method::POST, "/v2/agent/{projectId}/job"),
            Self::GetJob => (Method::GET, "/v2/agent/{projectId}/job/{id}"),
            Self::SendMessage => (Method::POST, "/v2/agent/{projectId}/job/{id}/message"),
            Self::ListViews => (Method::GET, "/v1/analytics/{projectId}/views"),
            Self::ListVisitors => (Method::GET, "/v1/analytics/{projectId}/visitors"),
            Self::ListFeedback => (Method::GET, "/v1/analytics/{projectId}/feedback"),
            Self::ListFeedbackByPage => (Method::GET, "/v1/analytics/{projectId}/feedback/by-page"),
            Self::ListSearches => (Method::GET, "/v1/analytics/{projectId}/searches"),
            Self::ListConversations => (Method::GET, "/v1/analytics/{projectId}/assistant"),
            Self::GetConversation => (
                Method::GET,
                "/v1/analytics/{projectId}/assistant/threads/{threadId}",
            ),
            Self::GetCallerStats => (
                Method::GET,
                "/v1/analytics/{projectId}/assistant/caller-stats",
            ),
            Self::Other => return None,
        };
        Some(route)
    }

    /// What may be told besides the project: in the query, or for a conversation in
    /// the path.
    pub(crate) fn parameters(self) -> &'static [Parameter] {
        match self {
            Self::ListViews | Self::ListVisitors => &TRAFFIC,
            Self::ListFeedback => &FEEDBACK,
            Self::ListFeedbackByPage => &FEEDBACK_BY_PAGE,
            Self::ListSearches => &SEARCHES,
            Self::ListConversations => &CONVERSATIONS,
            Self::GetConversation => &CONVERSATION,
            Self::GetCallerStats => &CALLER_STATS,
            Self::CreateJob | Self::GetJob | Self::SendMessage | Self::Other => &[],
        }
    }
}

const DATE_FROM: Parameter = Parameter::optional("dateFrom", Kind::Date);
const DATE_TO: Parameter = Parameter::optional("dateTo", Kind::Date);
const OFFSET: Parameter = Parameter::optional(
    "offset",
    Kind::Integer {
        min: 0,
        max: None,
        default: 0,
    },
);
const SOURCE: Parameter = Parameter::optional("source", Kind::OneOf(&SOURCES));
const STATUS: Parameter = Parameter::optional("status", Kind::Text);
const CURSOR: Parameter = Parameter::optional("cursor", Kind::Text);

const fn limit(max: usize, default: usize) -> Parameter {
    let kind = Kind::Integer {
        min: 1,
        max: Some(max),
        default,
    };
    Parameter::optional("limit", kind)
}

static TRAFFIC: [Parameter; 4] = [DATE_FROM, DATE_TO, limit(250, 50), OFFSET];
static FEEDBACK: [Parameter; 6] = [DATE_FROM, DATE_TO, SOURCE, STATUS, limit(100, 50), CURSOR];
static FEEDBACK_BY_PAGE: [Parameter; 5] = [DATE_FROM, DATE_TO, limit(100, 10), SOURCE, STATUS];
static SEARCHES: [Parameter; 4] = [DATE_FROM, DATE_TO, limit(100, 50), CURSOR];
static CONVERSATIONS: [Parameter; 4] = [
    DATE_FROM,
    DATE_TO,
    limit(1000, 100),
    Parameter::optional("cursor", Kind::Ulid),
];
static CONVERSATION: [Parameter; 1] = [Parameter::required("threadId", Kind::Ulid)];
static CALLER_STATS: [Parameter; 2] = [DATE_FROM, DATE_TO];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_named_by_the_end_of_its_path() {
        for (name, operation) in [
            ("views", Some(Operation::ListViews)),
            ("feedback/by-page", Some(Operation::ListFeedbackByPage)),
            ("assistant/caller-stats", Some(Operation::GetCallerStats)),
            ("assistant/threads/{threadId}", None),
            ("by-page", None),
            ("", None),
        ] {
            assert_eq!(Operation::of_report(name), operation, "{name}");
        }
    }

    #[test]
    fn page_views_are_found_by_their_former_name_and_shown_by_the_new_one() {
        for name in ["\"pageViews.list\"", "\"analytics.views\""] {
            let operation: Operation = serde_json::from_str(name).expect("a known name");
            assert_eq!(operation, Operation::ListViews);
        }
        let shown = serde_json::to_string(&Operation::ListViews).expect("text");
        assert_eq!(shown, "\"analytics.views\"");
    }

    #[test]
    fn every_operation_but_other_has_a_route_of_its_own() {
        let routes: std::collections::HashSet<_> = Operation::ALL
            .into_iter()
            .filter_map(Operation::route)
            .collect();
        assert_eq!(routes.len(), Operation::ALL.len() - 1);
    }
}
