use std::rc::Rc;

use quillgate::JobId;
use worker::{Response, WebSocketPair};

use crate::http::response::GatewayResponse;
use crate::jobs::events::END_TEXT;
use crate::jobs::project_object::Project;
use crate::jobs::project_stub::WatchCall;
use crate::jobs::resource::Resource;
use crate::runtime::{HostError, HostResult, now, sockets};

impl Project {
    /// Returns an ordinary response if no stream can be opened.
    pub(super) async fn watch(self: Rc<Self>, watch: WatchCall) -> HostResult<Response> {
        self.jobs
            .remember_project(&watch.ids.project, watch.resource)?;
        if let Err(refusal) = self.check_streams(&watch) {
            return make_refusal(&refusal);
        }
        let opened = match &watch.job {
            Some(job) => self.watch_job(&watch, job).await?,
            None => Ok(self.open_socket(&watch, self.jobs.list_events(watch.after)?)?),
        };
        self.schedule().await?;
        match opened {
            Ok(WebSocketPair { client, .. }) => Ok(Response::from_websocket(client)?),
            Err(refusal) => make_refusal(&refusal),
        }
    }

    async fn watch_job(
        self: &Rc<Self>,
        watch: &WatchCall,
        job: &str,
    ) -> HostResult<Result<WebSocketPair, GatewayResponse>> {
        // The id of a deployment does not prove that it belongs to this project.
        let is_recorded = self.jobs.find(job)?.is_some_and(|row| row.is_listed);
        if watch.resource == Resource::Deployment && !is_recorded {
            let problem = watch.resource.not_recorded();
            return Ok(Err(GatewayResponse::problem(&problem, &watch.ids.id)));
        }
        if let Some(refusal) = self.bring_up_to_date(watch, job).await? {
            return Ok(Err(refusal));
        }
        // Other streams may have opened during the poll.
        if let Err(refusal) = self.check_streams(watch) {
            return Ok(Err(refusal));
        }
        // The record may have been deleted during the poll.
        let Some(row) = self.jobs.find(job)? else {
            let problem = watch.resource.not_recorded();
            return Ok(Err(GatewayResponse::problem(&problem, &watch.ids.id)));
        };
        let events = self.jobs.events(job, watch.after)?;
        let record = row.record(self.jobs.resource());
        let is_given_up = record.is_late(&self.timing, now());
        let is_closed = is_given_up || record.is_finished();
        if is_closed && events.is_empty() {
            return Ok(Err(GatewayResponse::empty(204)));
        }
        let pair = self.open_socket(watch, events)?;
        if is_given_up {
            sockets::send(&pair.server, END_TEXT);
        }
        if is_closed {
            sockets::close(&pair.server, "finished");
        }
        Ok(Ok(pair))
    }

    /// Polls a job if its stored state is stale and the poll budget allows the poll. Returns the
    /// problem of a failed poll unless the stored state can be used instead.
    async fn bring_up_to_date(
        self: &Rc<Self>,
        watch: &WatchCall,
        job: &str,
    ) -> HostResult<Option<GatewayResponse>> {
        let now = now();
        let row = self.jobs.find(job)?;
        let is_due = row.as_ref().is_none_or(|row| {
            let job = self.job_of(row);
            job.is_poll_due(watch.after, now, &self.timing)
        });
        if !is_due {
            return Ok(None);
        }
        if let Some(row) = &row {
            // A job that the gateway did not create does not use the poll budget: the poll counts
            // as a read of the caller, and only a 429 delays the poll.
            let usage = self.jobs.poll_usage(now)?;
            let has_room = if row.is_listed {
                self.poll_budget().count_immediate(&usage, now) > 0
            } else {
                !usage.is_paused(now)
            };
            if !has_room {
                return Ok(None);
            }
        }
        let job = JobId::new(job);
        let job = job.map_err(|error| HostError::new(error.message()))?;
        let poll = self.poll(&watch.ids, &job)?;
        if row.is_some() {
            self.await_polls(vec![poll.clone()]).await?;
            if poll.is_running() {
                return Ok(None);
            }
        }
        let Err(failure) = poll.wait().await?.outcome else {
            return Ok(None);
        };
        // The watcher receives the stored state until Mintlify returns a newer state.
        let is_stored_state_valid = row.is_some_and(|row| {
            let may_be_unknown =
                failure.is_missing && row.record(self.jobs.resource()).may_be_unknown(now);
            may_be_unknown || failure.is_temporary() || failure.is_fault
        });
        let problem = || GatewayResponse::problem(&failure.problem, &watch.ids.id);
        Ok((!is_stored_state_valid).then(problem))
    }
}

/// The response always has status 200, because a refusal can have status 204, which allows no body.
fn make_refusal(refusal: &GatewayResponse) -> HostResult<Response> {
    Ok(Response::from_json(refusal)?)
}
