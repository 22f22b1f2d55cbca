use std::rc::Rc;

use crate::http::problem::Problem;
use crate::http::response::GatewayResponse;
use crate::jobs::job_row::JobRow;
use crate::jobs::project_object::Project;
use crate::jobs::records::JobQuery;
use crate::runtime::{HostResult, now};
use crate::upstream::request::RequestIds;

/// The maximum number of jobs that one list request polls.
const MAX_REFRESHED_JOBS: usize = 8;

impl Project {
    /// First polls unfinished jobs of the page: see [`Self::refresh`].
    pub(super) async fn list(
        self: Rc<Self>,
        ids: &RequestIds,
        query: &JobQuery,
    ) -> HostResult<GatewayResponse> {
        let page = self.jobs.page(query).await?;
        let now = now();
        let mut polled = page.rows.clone();
        polled.retain(|row| !row.record(self.jobs.resource()).is_late(&self.timing, now));
        self.refresh(ids, polled).await?;
        let listing = self.jobs.list(query, &page)?;
        Ok(GatewayResponse::json(200, listing))
    }

    pub(super) async fn read_record(
        self: Rc<Self>,
        ids: RequestIds,
        job: &str,
    ) -> HostResult<GatewayResponse> {
        let row = self.jobs.find(job)?.filter(|row| row.is_listed);
        self.refresh(&ids, row.into_iter().collect()).await?;
        Ok(match self.jobs.read_record(job)? {
            Some(record) => GatewayResponse::json(200, record),
            None => GatewayResponse::problem(&Problem::job_not_recorded(), &ids.id),
        })
    }

    /// Polls the stalest unfinished jobs, and waits for the responses: see [`Self::await_polls`].
    async fn refresh(self: &Rc<Self>, ids: &RequestIds, mut stale: Vec<JobRow>) -> HostResult<()> {
        let now = now();
        stale.retain(|row| self.job(&row.id, Some(row)).is_stale(now, &self.timing));
        let usage = self.jobs.poll_usage(now)?;
        let room = self.poll_budget().count_immediate(&usage, now) as usize;
        let mut polls = Vec::new();
        stale.sort_by_key(|row| row.checked_at);
        for row in stale.iter().take(MAX_REFRESHED_JOBS.min(room)) {
            if let Some(id) = row.job_id() {
                polls.push(self.poll(ids, &id)?);
            }
        }
        self.await_polls(polls).await
    }

    /// Returns the state of a job that Mintlify may not know yet.
    pub(super) fn find_new_job(&self, job: &str) -> HostResult<Option<String>> {
        let is_new = |row: &JobRow| row.record(self.jobs.resource()).may_be_unknown(now());
        Ok(self.jobs.find(job)?.filter(is_new).map(|row| row.data))
    }

    pub(super) async fn delete_record(&self, job: &str) -> HostResult<bool> {
        if self.jobs.find(job)?.is_none() {
            return Ok(false);
        }
        let event = self.database.transaction(|| {
            self.outbox.forget_job(job)?;
            self.keys.forget_job(job)?;
            let event = self.jobs.delete(job)?;
            self.jobs.forget_deletions()?;
            Ok(event)
        })?;
        self.forget(job, event);
        self.schedule().await?;
        Ok(true)
    }
}
