//! Plans that resume once their caller is identified.

use std::rc::Rc;

use quillgate::{Millis, Operation, ProjectId, RateLimitPolicy};

use super::Planner;
use super::operation::PathValues;
use crate::app::action::Action;
use crate::app::config::Config;
use crate::auth::caller::Caller;
use crate::auth::session::cookie;
use crate::auth::session::cookie::find_cookie;
use crate::auth::settings::AuthSettings;
use crate::auth::{Credentials, Evidence, Identified, VerifiedTokens, identify_session};
use crate::http::problem::Problem;
use crate::http::request_head::RequestHead;

/// A plan that continues once the host has obtained the evidence for its caller's identity.
#[derive(Debug)]
pub struct PendingPlan {
    /// The target of the request. It is planned once the caller is identified.
    pub target: Target,
    /// The evidence that identifies the caller.
    pub evidence: Evidence,
}

/// The result of resuming a [`PendingPlan`].
#[derive(Debug)]
pub struct CallerPlan {
    /// The caller, once identified.
    pub caller: Option<Rc<Caller>>,
    /// The project, once the caller is authorized for it.
    pub project: Option<ProjectId>,
    /// The action, or the problem that prevents one.
    pub action: Result<Action, Problem>,
}

/// A target that only identified callers may use.
#[derive(Debug)]
pub enum Target {
    /// Read the health of the gateway.
    Health,
    /// Unblock a policy that the upstream has blocked.
    Reopening(RateLimitPolicy),
    /// Read the caller's session.
    Session,
    /// Read the pull request of a job. Invalid ids are reported to identified callers only.
    PullRequest(Result<PathValues, Problem>),
    /// Carry out a declared operation. Invalid ids are reported to identified callers only.
    Operation(Operation, Result<PathValues, Problem>),
}

impl Target {
    /// Identifies the caller by the record of a session; `None` if it has ended.
    ///
    /// # Errors
    /// The same as for [`identify_session`].
    pub fn identify_session(
        &self,
        record: Option<&str>,
        head: &RequestHead,
        settings: &AuthSettings,
        now: Millis,
        verified: &mut VerifiedTokens,
    ) -> Result<Identified, Problem> {
        let credentials = self.select(find_credentials(head));
        identify_session(record, &credentials, settings, now, verified)
    }

    /// Continues the plan of a request after its caller was identified or refused.
    pub fn resume(
        self,
        identified: Identified,
        config: &Config,
        head: &RequestHead,
        now: Millis,
    ) -> CallerPlan {
        let mut planner = Planner::new(config, head, now);
        let action = planner.resume(self, identified);
        CallerPlan {
            caller: planner.caller,
            project: planner.project,
            action,
        }
    }

    /// Returns the credentials that may identify the caller. For [`Self::Session`], only the cookie
    /// may.
    pub(super) const fn select<'a>(&self, credentials: Credentials<'a>) -> Credentials<'a> {
        match self {
            Self::Session => Credentials {
                authorization: None,
                access_assertion: None,
                ..credentials
            },
            _ => credentials,
        }
    }
}

/// Finds the credentials of a request.
pub(super) fn find_credentials(head: &RequestHead) -> Credentials<'_> {
    Credentials {
        authorization: head.header("authorization"),
        session: find_cookie(head.session_cookie(), cookie::NAME),
        access_assertion: head.header("cf-access-jwt-assertion"),
    }
}
