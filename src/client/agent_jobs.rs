//! Agent jobs: create, read, follow up, list, watch.

use crate::agent_job::{CreateAgentJob, GetAgentJob, SendMessage};
use crate::client::Client;
use crate::client::call::ApiCall;
use crate::client::list::List;
use crate::client::watch::{Wait, Watch};
use crate::job_list::ListAgentJobs;
use crate::job_record::GetAgentJobRecord;

/// Background agent jobs of a client's project.
#[derive(Debug, Clone, Copy)]
pub struct AgentJobs<'a>(pub(super) &'a Client);

impl AgentJobs<'_> {
    /// Creates a job, which runs in the background. The result is its state at first: nearly always
    /// active.
    ///
    /// # Errors
    /// As [`ApiCall`]; among them status 429 when the project's budget of the hour is spent.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/create.rs"), "```")]
    pub fn create(&self, create: CreateAgentJob) -> ApiCall<CreateAgentJob> {
        ApiCall::new(self.0, create)
    }

    /// Reads a job's state.
    ///
    /// # Errors
    /// As [`ApiCall`]; among them status 404 when there is no such job.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/get.rs"), "```")]
    pub fn get(&self, get: GetAgentJob) -> ApiCall<GetAgentJob> {
        ApiCall::new(self.0, get)
    }

    /// Sends a follow-up message, which sets a job to work again.
    ///
    /// # Errors
    /// As [`ApiCall`]; among them status 404 when there is no such job.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/send_message.rs"), "```")]
    pub fn send_message(&self, message: SendMessage) -> ApiCall<SendMessage> {
        ApiCall::new(self.0, message)
    }

    /// Lists the jobs that were created through the gateway, newest first: all of them, or those in a
    /// state, of an author, or with a text in their prompt. The platform itself has no such list.
    ///
    /// # Errors
    /// As [`List`].
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/list.rs"), "```")]
    pub fn list(&self, list: ListAgentJobs) -> List<ListAgentJobs> {
        List::new(self.0, list)
    }

    /// Reads what the gateway has recorded of a job that was created through it: its prompt, its
    /// follow-ups and its states.
    ///
    /// # Errors
    /// As [`ApiCall`]; among them status 404 when there is no such record.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/record.rs"), "```")]
    pub fn record(&self, get: GetAgentJobRecord) -> ApiCall<GetAgentJobRecord> {
        ApiCall::new(self.0, get)
    }

    /// Watches a job: its state at once, then each change until it has come to its end.
    ///
    /// The job is polled after waits that grow from 2 to 30 s, or as `Retry-After` says. (The
    /// gateway's event streams are read by the npm package alone.)
    ///
    /// # Errors
    /// As [`Watch`].
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/watch.rs"), "```")]
    pub fn watch(&self, job: GetAgentJob) -> Watch {
        Watch::new(self.0, job)
    }

    /// Waits until a job has come to its end, and gives it as it then is: completed, archived or
    /// failed.
    ///
    /// # Errors
    /// As [`Watch`].
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/wait.rs"), "```")]
    pub fn wait(&self, job: GetAgentJob) -> Wait {
        Wait::new(self.watch(job))
    }
}
