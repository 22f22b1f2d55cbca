//! The client's methods for agent jobs.

use crate::agent_job::{CreateAgentJob, GetAgentJob, JobId, Prompt, SendMessage};
use crate::client::Client;
use crate::client::call::{ApiCall, convert, prepare};
use crate::client::list::List;
use crate::client::watch::Watch;
use crate::error::ValidationError;
use crate::job_list::ListAgentJobs;
use crate::job_record::{DeleteAgentJobRecord, GetAgentJobRecord};

/// Background agent jobs of the client's project.
///
/// A job is identified by its id, as a string or a [`JobId`], or by an
/// [`AgentJob`](crate::AgentJob).
#[derive(Debug, Clone, Copy)]
pub struct AgentJobs<'a>(pub(super) &'a Client);

impl AgentJobs<'_> {
    /// Creates a job, which runs in the background. Returns its first state, usually active.
    ///
    /// # Errors
    /// As [`ApiCall::send`]; status 429 if the hourly budget of the project is used up.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/create.rs"), "```")]
    pub fn create<P>(&self, prompt: P) -> ApiCall<CreateAgentJob>
    where
        P: TryInto<Prompt, Error: Into<ValidationError>>,
    {
        let create = prompt.try_into().map(CreateAgentJob::new);
        ApiCall::new(self.0, prepare(create))
    }

    /// Reads the state of a job.
    ///
    /// # Errors
    /// As [`ApiCall::send`]; status 404 if the job does not exist.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/get.rs"), "```")]
    pub fn get<J>(&self, job: J) -> ApiCall<GetAgentJob>
    where
        J: TryInto<JobId, Error: Into<ValidationError>>,
    {
        ApiCall::new(self.0, prepare(job.try_into().map(GetAgentJob::new)))
    }

    /// Sends a follow-up message to a job, which resumes it.
    ///
    /// # Errors
    /// As [`ApiCall::send`]; status 404 if the job does not exist.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/send_message.rs"), "```")]
    pub fn send_message<J, P>(&self, job: J, prompt: P) -> ApiCall<SendMessage>
    where
        J: TryInto<JobId, Error: Into<ValidationError>>,
        P: TryInto<Prompt, Error: Into<ValidationError>>,
    {
        let message = convert(job).and_then(|job| Ok(SendMessage::new(job, convert(prompt)?)));
        ApiCall::new(self.0, prepare(message))
    }

    /// Lists the jobs that were created through the gateway, newest first. Mintlify does not have
    /// this list. The argument is `..` for all jobs, or the [`ListAgentJobs`] of an earlier
    /// [`next_request`](crate::client::Pages::next_request).
    ///
    /// # Errors
    /// As [`List::send`].
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/list.rs"), "```")]
    pub fn list(&self, list: impl Into<ListAgentJobs>) -> List<ListAgentJobs> {
        List::new(self.0, prepare(Ok::<_, ValidationError>(list.into())))
    }

    /// Reads the gateway's record of a job: its prompt, follow-ups and changes.
    ///
    /// # Errors
    /// As [`ApiCall::send`]; status 404 if the gateway has no record of the job.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/record.rs"), "```")]
    pub fn record<J>(&self, job: J) -> ApiCall<GetAgentJobRecord>
    where
        J: TryInto<JobId, Error: Into<ValidationError>>,
    {
        ApiCall::new(self.0, prepare(job.try_into().map(GetAgentJobRecord::new)))
    }

    /// Deletes the gateway's record of a job. The job itself continues.
    ///
    /// # Errors
    /// As [`ApiCall::send`].
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/delete_record.rs"), "```")]
    pub fn delete_record<J>(&self, job: J) -> ApiCall<DeleteAgentJobRecord>
    where
        J: TryInto<JobId, Error: Into<ValidationError>>,
    {
        let delete = job.try_into().map(|id| DeleteAgentJobRecord { id });
        ApiCall::new(self.0, prepare(delete))
    }

    /// Watches a job until it finishes, by the gateway's event stream or by polls; see [`Watch`].
    ///
    /// # Errors
    /// As [`Watch::next`].
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/watch.rs"), "```")]
    pub fn watch<J>(&self, job: J) -> Watch
    where
        J: TryInto<JobId, Error: Into<ValidationError>>,
    {
        Watch::new(self.0, prepare(job.try_into().map(GetAgentJob::new)))
    }
}
