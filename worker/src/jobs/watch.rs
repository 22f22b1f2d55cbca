//! The URL with which the Worker requests a WebSocket from a project's object.

use quillgate::encode::percent_encode;

use crate::http::url::{decode_percent, split_url};
use crate::jobs::events::parse_event_number;

/// A request for the changes of one job or of all jobs in a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchCall {
    /// The request's id.
    pub id: String,
    /// The project.
    pub project: String,
    /// The job, or `None` for all jobs in the project.
    pub job: Option<String>,
    /// `traceparent` for the upstream.
    pub traceparent: String,
    /// A stable identifier of the caller.
    pub caller: String,
    /// `tracestate` for the upstream, never empty.
    pub tracestate: Option<String>,
    /// The number of the last change that the watcher received.
    pub after: Option<u64>,
}

impl WatchCall {
    /// Formats the URL.
    ///
    /// ```
    /// use quillgate_worker::jobs::watch::WatchCall;
    ///
    /// let call = WatchCall {
    ///     id: "an-id".to_owned(),
    ///     project: "demo docs".to_owned(),
    ///     job: Some("a/b?c".to_owned()),
    ///     traceparent: "00-1-2-00".to_owned(),
    ///     caller: "a-hash".to_owned(),
    ///     tracestate: Some("vendor=a/b".to_owned()),
    ///     after: Some(3),
    /// };
    /// assert_eq!(WatchCall::from_url(&call.to_url()), Some(call));
    /// ```
    #[must_use]
    pub fn to_url(&self) -> String {
        let after = self
            .after
            .map_or_else(String::new, |after| after.to_string());
        let fields = [
            "watch",
            &percent_encode(&self.project),
            &percent_encode(self.job.as_deref().unwrap_or("")),
            &percent_encode(&self.id),
            &percent_encode(&self.traceparent),
            &percent_encode(&self.caller),
            &percent_encode(self.tracestate.as_deref().unwrap_or("")),
        ];
        format!("https://gate/{}?{after}", fields.join("/"))
    }

    /// Parses the output of [`Self::to_url`]. Returns `None` for other URLs.
    #[must_use]
    pub fn from_url(url: &str) -> Option<Self> {
        let (path, query) = split_url(url);
        let mut segments = path.strip_prefix("/watch/")?.split('/');
        let mut next = || decode_percent(segments.next()?);
        Some(Self {
            project: next()?,
            job: Some(next()?).filter(|job| !job.is_empty()),
            id: next()?,
            traceparent: next()?,
            caller: next()?,
            tracestate: Some(next()?).filter(|state| !state.is_empty()),
            after: query.and_then(parse_event_number),
        })
    }
}
