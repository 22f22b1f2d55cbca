//! The decision about a request, from what can be read of it without its body, and
//! then from its body: plain data in, plain data out.

use quillgate::{Millis, Operation, ProjectId, Request};

use crate::access::{self, Caller};
use crate::config::Config;
use crate::content::{LARGEST_BODY, Values, is_json};
use crate::cors::{self, Origin};
use crate::problem::Problem;
use crate::route::{self, decoded_segment, split_url};

/// What of a request decides, apart from its body.
#[derive(Debug, Clone, Copy, Default)]
pub struct Incoming<'a> {
    /// The method.
    pub method: &'a str,
    /// The absolute URL.
    pub url: &'a str,
    /// `Authorization`.
    pub authorization: Option<&'a str>,
    /// `Origin`.
    pub origin: Option<&'a str>,
    /// `Content-Type`.
    pub content_type: Option<&'a str>,
    /// `Content-Length`.
    pub content_length: Option<&'a str>,
}

/// What is to be done.
pub enum Decision {
    /// Answer that the Worker is up.
    Healthy,
    /// Answer a question about a path with these methods: a browser's preflight, mostly.
    Options(Vec<&'static str>),
    /// Read the body, then ask [`Pending::with_body`].
    ReadBody(Pending),
    /// Send this upstream.
    Forward(Forward),
}

/// A request whose body is still to be read.
pub struct Pending {
    /// The operation.
    pub operation: &'static Operation,
    /// Who asks.
    pub caller: Caller,
    project: ProjectId,
    values: Values,
}

/// A request that goes upstream.
pub struct Forward {
    /// The operation.
    pub operation: &'static Operation,
    /// Who asks.
    pub caller: Caller,
    /// What is sent, rebuilt from checked values.
    pub request: Request,
}

/// What is said to a browser, and what is to be done.
pub struct Outcome {
    /// The origin's part of the answer's head.
    pub origin: Origin,
    /// What is to be done, or why nothing is.
    pub decision: Result<Decision, Problem>,
}

const LIVENESS: &str = "/healthz";

/// Whether a request asks if the Worker is up, which it is however it is set up.
#[must_use]
pub fn is_liveness(incoming: &Incoming<'_>) -> bool {
    let (path, _) = split_url(incoming.url);
    path == LIVENESS && matches!(incoming.method, "GET" | "HEAD")
}

impl Outcome {
    /// The Worker is up.
    #[must_use]
    pub const fn healthy() -> Self {
        Self {
            origin: Origin::Own,
            decision: Ok(Decision::Healthy),
        }
    }
}

/// Decides about a request; `now` is the instant that tokens are checked at.
#[must_use]
pub fn decide(config: &Config, incoming: &Incoming<'_>, now: Millis) -> Outcome {
    match cors::origin(incoming.origin, incoming.url, &config.allowed_origins) {
        Ok(origin) => Outcome {
            origin,
            decision: decided(config, incoming, now),
        },
        Err(problem) => Outcome {
            origin: Origin::Own,
            decision: Err(problem),
        },
    }
}

fn decided(config: &Config, incoming: &Incoming<'_>, now: Millis) -> Result<Decision, Problem> {
    let (path, query) = split_url(incoming.url);
    if is_liveness(incoming) {
        return Ok(Decision::Healthy);
    }
    if path == LIVENESS {
        return Err(Problem::method_not_allowed("GET, HEAD"));
    }
    if incoming.method == "OPTIONS" {
        let methods = route::methods(path);
        return if methods.is_empty() {
            Err(Problem::not_found())
        } else {
            Ok(Decision::Options(methods))
        };
    }
    let route = route::find(incoming.method, path)?;
    let caller = access::caller(incoming.authorization, &config.token_secrets, now)?;
    let pending = admitted(route, caller, query)?;
    if pending.operation.method == quillgate::Method::Get {
        return pending.forward().map(Decision::Forward);
    }
    announced_body(incoming)?;
    Ok(Decision::ReadBody(pending))
}

fn admitted(route: route::Route, caller: Caller, query: Option<&str>) -> Result<Pending, Problem> {
    let operation = route.operation;
    let mut project = String::new();
    let mut path = Vec::new();
    for (name, segment) in route.segments {
        let value = decoded_segment(name, &segment)?;
        if name == "projectId" {
            project = value;
        } else {
            path.push((name, value));
        }
    }
    let project = ProjectId::new(project)?;
    caller.authorize(project.as_str(), operation.scope)?;
    let values = Values::new(operation, path, query)?;
    Ok(Pending {
        operation,
        caller,
        project,
        values,
    })
}

/// Refuses a body by what its head says of it, before any of it is read.
fn announced_body(incoming: &Incoming<'_>) -> Result<(), Problem> {
    if !is_json(incoming.content_type) {
        return Err(Problem::unsupported_media_type());
    }
    let length = incoming.content_length.map(str::parse::<u64>);
    match length {
        Some(Ok(length)) if length > LARGEST_BODY as u64 => {
            Err(Problem::content_too_large(LARGEST_BODY))
        }
        _ => Ok(()),
    }
}

impl Pending {
    /// Decides about the body.
    ///
    /// # Errors
    /// 400 for a body that is no JSON object or whose values break a rule.
    pub fn with_body(mut self, body: &[u8]) -> Result<Forward, Problem> {
        self.values = self.values.with_body(self.operation, body)?;
        self.forward()
    }

    fn forward(self) -> Result<Forward, Problem> {
        let request = self.values.request(self.operation, &self.project)?;
        Ok(Forward {
            operation: self.operation,
            caller: self.caller,
            request,
        })
    }
}
