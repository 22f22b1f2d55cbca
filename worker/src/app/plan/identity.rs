//! The caller of a request: by an access token, an assertion or a session.

use std::rc::Rc;

use super::Planner;
use crate::app::action::Action;
use crate::auth::caller::Caller;
use crate::auth::session::cookie::SessionId;
use crate::auth::{Credentials, Identity, identify, session, session_record};
use crate::http::problem::Problem;
use crate::http::problem_kind::ProblemKind;
use crate::http::request_head::SessionState;

impl Planner<'_> {
    /// Identifies the caller. If that needs another step first, such as verifying a signature, returns
    /// that step.
    pub(super) fn identify(&mut self) -> Result<Result<Rc<Caller>, Action>, Problem> {
        let credentials = Credentials {
            authorization: self.head.authorization.as_deref(),
            access_assertion: self.head.access_assertion.as_deref(),
        };
        if let Some(identity) = self.identify_session() {
            let has_ended =
                matches!(&identity, Err(problem) if problem.kind == ProblemKind::SessionEnded);
            // An old cookie must not lock out a person that Cloudflare Access admits.
            if !has_ended || !credentials.has_token(&self.config.auth) {
                return identity;
            }
        }
        let identity = identify(
            &credentials,
            &self.config.auth,
            self.now,
            self.signature,
            self.verified,
        );
        Ok(match identity? {
            Identity::Caller(caller) => Ok(caller),
            Identity::Unverified(token) => Err(Action::VerifySignature(token)),
        })
    }

    /// Identifies the caller by the session cookie. Returns `None` if the request has no such cookie.
    pub(super) fn identify_session(&self) -> Option<Result<Result<Rc<Caller>, Action>, Problem>> {
        let id = SessionId::read(self.head.session_cookie(), &self.config.auth.token_secrets)?;
        Some(id.and_then(|id| match &self.head.session {
            SessionState::Unread => Ok(Err(Action::ReadSession(id))),
            SessionState::Ended => Err(session::problem::ended_problem()),
            SessionState::Open(record) => {
                session_record::identify(record, &self.config.auth, self.now).map(Ok)
            }
        }))
    }
}
