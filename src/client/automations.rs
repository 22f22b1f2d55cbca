//! The client's methods for automations.

use crate::automation::{AutomationId, RunAutomation};
use crate::client::Client;
use crate::client::call::{ApiCall, prepare};
use crate::error::ValidationError;

/// Automations of the client's project: agents that Mintlify runs on a schedule.
#[derive(Debug, Clone, Copy)]
pub struct Automations<'a>(pub(super) &'a Client);

impl Automations<'_> {
    /// Runs a scheduled automation now. The run costs credits.
    ///
    /// # Errors
    /// As [`ApiCall::send`]; status 404 if the project has no such automation.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/automation.rs"), "```")]
    pub fn run<A>(&self, automation: A) -> ApiCall<RunAutomation>
    where
        A: TryInto<AutomationId, Error: Into<ValidationError>>,
    {
        let run = automation.try_into().map(RunAutomation::new);
        ApiCall::new(self.0, prepare(run))
    }
}
