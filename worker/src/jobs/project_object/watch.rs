//! Opens event streams for watchers of a job or of all jobs.

use std::rc::Rc;

use quillgate::{JobId, Millis};
use wasm_bindgen::JsValue;
use worker::{Response, WebSocketPair};

use crate::http::problem_kind::ProblemKind;
use crate::http::response::GatewayResponse;
use crate::jobs::events::END_TEXT;
use crate::jobs::poll::{Watcher, is_poll_due};
use crate::jobs::project_object::Project;
use crate::jobs::project_object::watchers::{CALLER_TAG, LIST_TAG};
use crate::jobs::project_stub::PROBLEM_HEADER;
use crate::jobs::store::JobRow;
use crate::jobs::watch::WatchCall;
use crate::runtime::{Call, HostError, HostResult, make_response, now, sockets};

impl Project {
    /// Opens a WebSocket and sends the changes that the client has missed. Returns an ordinary
    /// response if no stream can be opened.
    pub(super) async fn watch(self: Rc<Self>, watch: WatchCall) -> HostResult<Response> {
        self.jobs.remember_project(&watch.project)?;
        let caller_tag = format!("{CALLER_TAG}{}", watch.caller);
        let tag = watch.job.as_deref().unwrap_or(LIST_TAG);
        if let Err(problem) = self.check_streams(&caller_tag, tag) {
            return Ok(refuse(GatewayResponse::problem(&problem, &watch.id)));
        }
        match &watch.job {
            Some(job) => self.watch_job(&watch, job, &caller_tag).await,
            None => self.watch_list(&watch, &caller_tag).await,
        }
    }

    async fn watch_list(&self, watch: &WatchCall, caller_tag: &str) -> HostResult<Response> {
        let WebSocketPair { client, server } = self.open_socket(LIST_TAG, caller_tag)?;
        for event in self.jobs.list_events(watch.after)? {
            sockets::send(&server, &event.to_text());
        }
        self.schedule().await?;
        Ok(Response::from_websocket(client)?)
    }

    async fn watch_job(
        self: &Rc<Self>,
        watch: &WatchCall,
        job: &str,
        caller_tag: &str,
    ) -> HostResult<Response> {
        if let Some(refusal) = self.bring_up_to_date(watch, job).await? {
            self.schedule().await?;
            return Ok(refuse(refusal));
        }
        // Other streams may have opened during the poll.
        if let Err(problem) = self.check_streams(caller_tag, job) {
            return Ok(refuse(GatewayResponse::problem(&problem, &watch.id)));
        }
        let events = self.jobs.events(job, watch.after)?;
        let row = self.jobs.find(job)?;
        let limit = self.settings.poll_duration;
        let is_settled = row.as_ref().is_some_and(|row| row.is_settled(limit, now()));
        if is_settled && events.is_empty() {
            return Ok(refuse(GatewayResponse::empty(204)));
        }
        let WebSocketPair { client, server } = self.open_socket(job, caller_tag)?;
        for event in events {
            sockets::send(&server, &event.to_text());
        }
        if is_settled {
            if row.is_some_and(|row| !row.is_finished()) {
                sockets::send(&server, END_TEXT);
            }
            sockets::close(&server, "finished");
        }
        self.schedule().await?;
        Ok(Response::from_websocket(client)?)
    }

    /// Polls a job if its stored state is stale. Returns a problem if the poll fails, unless the
    /// stored state can be used.
    async fn bring_up_to_date(
        self: &Rc<Self>,
        watch: &WatchCall,
        job: &str,
    ) -> HostResult<Option<GatewayResponse>> {
        let now = now();
        let row = self.jobs.find(job)?;
        let is_listed = row.as_ref().is_some_and(JobRow::is_listed);
        let known = row.map(|row| row.state(self.settings.poll_duration, now));
        let watcher = watch.after.map_or(Watcher::New, |_| Watcher::Resuming);
        if !is_poll_due(known, watcher, self.settings.poll_interval, now) {
            return Ok(None);
        }
        let is_seen = known.is_some_and(|known| known.is_seen);
        if is_seen && !self.has_room(is_listed, now)? {
            return Ok(None);
        }
        let call = Call {
            id: watch.id.clone(),
            project: watch.project.clone(),
            traceparent: watch.traceparent.clone(),
            tracestate: watch.tracestate.clone(),
        };
        let job = JobId::new(job);
        let job = job.map_err(|error| HostError::new(error.message()))?;
        let exchange = self.poll(&call, &job)?.wait().await?;
        Ok(match exchange.outcome {
            Ok(_) => None,
            // A temporary failure of Mintlify does not invalidate the stored state.
            Err(failure) if is_seen && (failure.is_fault || failure.closed_for.is_some()) => None,
            Err(failure) => Some(GatewayResponse::problem(&failure.problem, &watch.id)),
        })
    }

    /// Returns whether a new watcher may cause a poll now. A job that the gateway did not create does
    /// not use the poll budget: its poll counts as a read of the caller, and only a 429 delays it.
    fn has_room(&self, is_listed: bool, now: Millis) -> HostResult<bool> {
        let usage = self.poll_log.usage(now)?;
        Ok(if is_listed {
            self.poll_log.budget().count_immediate(&usage, now) > 0
        } else {
            !usage.is_paused(now)
        })
    }
}

/// Returns a complete response in place of a WebSocket.
fn refuse(response: GatewayResponse) -> Response {
    let kind = response.problem.map(ProblemKind::as_str);
    let mut headers = response.headers;
    if let Some(kind) = kind {
        headers.set(PROBLEM_HEADER, kind);
    }
    let body = response
        .body
        .as_deref()
        .map_or(JsValue::NULL, JsValue::from_str);
    make_response(response.status, &headers, &body).into()
}
