//! Plans of requests for sessions and sign-ins.

use super::Planner;
use crate::app::action::Action;
use crate::app::write_plan::check_announced_body;
use crate::auth::session::SESSION;
use crate::auth::session::cross_site::check_same_origin;
use crate::auth::session::problem::missing_problem;
use crate::auth::session::sign_in::{CALLBACK, START};
use crate::http::problem::Problem;
use crate::http::route::join_methods;

impl Planner<'_> {
    /// Plans a request for a session. `rest` is the path after [`SESSION`].
    pub(super) fn plan_session(&mut self, rest: &str) -> Result<Action, Problem> {
        let (route, methods): (_, &[_]) = match rest {
            "" => (SESSION, &["GET", "HEAD", "POST", "DELETE"]),
            "/methods" => ("/session/methods", &["GET", "HEAD"]),
            START => ("/session/start", &["GET"]),
            "/callback" => (CALLBACK, &["GET"]),
            _ => return Err(Problem::not_found()),
        };
        self.route = Some(route);
        let method = &*self.head.method;
        if method == "OPTIONS" {
            return Ok(Action::AnswerOptions(methods.to_vec()));
        }
        if !methods.contains(&method) {
            return Err(Problem::method_not_allowed(&join_methods(methods)));
        }
        match (rest, method) {
            ("/methods", _) => Ok(Action::DescribeMethods),
            ("/callback", _) => Ok(Action::ConcludeSignIn),
            (START, _) => {
                check_same_origin(self.head)?;
                Ok(Action::BeginSignIn)
            }
            (_, "POST") => {
                check_same_origin(self.head)?;
                check_announced_body(self.head)?;
                Ok(Action::OpenSession)
            }
            (_, "DELETE") => {
                check_same_origin(self.head)?;
                Ok(Action::EndSession)
            }
            _ => self.plan_session_read(),
        }
    }

    fn plan_session_read(&mut self) -> Result<Action, Problem> {
        match self.identify_session().ok_or_else(missing_problem)?? {
            Err(action) => Ok(action),
            Ok(caller) => {
                self.caller = Some(caller);
                Ok(Action::DescribeSession)
            }
        }
    }
}
