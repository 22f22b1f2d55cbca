use std::collections::HashSet;
use std::rc::Rc;

use quillgate::JobId;
use wasm_bindgen::JsValue;
use worker::{Response, WebSocket, WebSocketPair};

use crate::http::problem::Problem;
use crate::http::response::GatewayResponse;
use crate::jobs::events::{END_TEXT, StreamEvent};
use crate::jobs::project_object::Project;
use crate::jobs::project_stub::WatchCall;
use crate::jobs::resource::Resource;
use crate::runtime::{HostResult, now, sockets};

/// The socket's other tag is a job id, which contains no slash, or [`LIST_TAG`].
const CALLER_TAG: char = '/';
/// The tag of sockets that watch all jobs. A caller tag continues with a hash after the slash.
pub(super) const LIST_TAG: &str = "/jobs";

impl Project {
    /// Returns an ordinary response if no stream can be opened.
    pub(super) async fn watch(self: Rc<Self>, watch: WatchCall) -> HostResult<Response> {
        self.jobs
            .remember_project(&watch.ids.project, watch.resource)?;
        if let Err(problem) = self.check_streams(&watch) {
            return refuse(&watch, &problem);
        }
        let response = self.open_stream(&watch).await?;
        self.schedule().await?;
        Ok(response)
    }

    async fn open_stream(self: &Rc<Self>, watch: &WatchCall) -> HostResult<Response> {
        let Some(job) = &watch.job else {
            let events = self.jobs.list_events(watch.after)?;
            let pair = self.open_socket(watch, events)?;
            return Ok(Response::from_websocket(pair.client)?);
        };
        // The id of a deployment does not prove that it belongs to this project.
        let is_recorded = self.jobs.find(job)?.is_some_and(|row| row.is_listed);
        if watch.resource == Resource::Deployment && !is_recorded {
            return refuse(watch, &watch.resource.not_recorded());
        }
        let updated = self.bring_up_to_date(watch, job).await?;
        // Other streams may have opened during the poll, and the record may have been deleted.
        if let Err(problem) = updated.and_then(|()| self.check_streams(watch)) {
            return refuse(watch, &problem);
        }
        let Some(row) = self.jobs.find(job)? else {
            return refuse(watch, &watch.resource.not_recorded());
        };
        let events = self.jobs.events(job, watch.after)?;
        let record = row.record(self.jobs.resource());
        let is_given_up = record.is_late(&self.timing, now());
        let is_closed = is_given_up || record.is_finished();
        if is_closed && events.is_empty() {
            return respond(&GatewayResponse::empty(204));
        }
        let pair = self.open_socket(watch, events)?;
        if is_given_up {
            sockets::send(&pair.server, END_TEXT);
        }
        if is_closed {
            sockets::close(&pair.server, "finished");
        }
        Ok(Response::from_websocket(pair.client)?)
    }

    /// Polls a job if its stored state is stale and the poll budget allows the poll. Returns the
    /// problem of a failed poll unless the stored state can be used instead.
    async fn bring_up_to_date(
        self: &Rc<Self>,
        watch: &WatchCall,
        job: &str,
    ) -> HostResult<Result<(), Problem>> {
        let now = now();
        let row = self.jobs.find(job)?;
        let stored = self.job(job, row.as_ref());
        if !stored.is_poll_due(watch.after, now, &self.timing) {
            return Ok(Ok(()));
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
                return Ok(Ok(()));
            }
        }
        let poll = self.poll(&watch.ids, &JobId::new(job)?)?;
        if row.is_some() {
            self.await_polls(vec![poll.clone()]).await?;
            if poll.is_running() {
                return Ok(Ok(()));
            }
        }
        let Some(failure) = poll.wait().await? else {
            return Ok(Ok(()));
        };
        // The watcher receives the stored state until Mintlify returns a newer state.
        let is_stored_state_valid = stored.record.is_some_and(|record| {
            let may_be_unknown = failure.is_missing && record.may_be_unknown(now);
            may_be_unknown || failure.is_temporary() || failure.is_fault
        });
        Ok(if is_stored_state_valid {
            Ok(())
        } else {
            Err(failure.problem)
        })
    }

    /// Excludes closing sockets, whose clients receive missed changes after reconnecting.
    pub(super) fn find_watchers(&self, tag: &str) -> Vec<WebSocket> {
        let mut sockets = self.state.get_websockets_with_tag(tag);
        sockets.retain(is_open);
        sockets
    }

    pub(super) fn find_watched_targets(&self) -> HashSet<String> {
        let mut sockets = self.state.get_websockets();
        sockets.retain(is_open);
        let tags = sockets
            .iter()
            .flat_map(|socket| self.state.get_tags(socket));
        tags.filter(|tag| tag == LIST_TAG || !tag.starts_with(CALLER_TAG))
            .collect()
    }

    fn check_streams(&self, watch: &WatchCall) -> Result<(), Problem> {
        let settings = &self.settings;
        let owner = watch.job.as_ref().map_or("the project", |_| "the job");
        let [target, caller] = make_tags(watch);
        for (tag, limit, owner) in [
            (caller, settings.streams_per_caller, "the caller"),
            (target, settings.streams_per_job, owner),
        ] {
            if self.find_watchers(&tag).len() >= limit as usize {
                return Err(Problem::too_many_streams(owner, limit));
            }
        }
        Ok(())
    }

    /// The WebSocket stays open when this instance hibernates.
    fn open_socket(
        &self,
        watch: &WatchCall,
        events: Vec<StreamEvent>,
    ) -> HostResult<WebSocketPair> {
        let pair = WebSocketPair::new()?;
        // The method of the `worker` crate panics if the runtime rejects a tag, so the raw method
        // is called.
        let tags = make_tags(watch).map(JsValue::from).to_vec();
        let raw = self.state.as_raw();
        raw.accept_websocket_with_tags(pair.server.as_ref(), tags)?;
        for event in events {
            sockets::send(&pair.server, &event.to_text());
        }
        Ok(pair)
    }

    pub(super) fn broadcast(&self, tag: &str, event: Option<&StreamEvent>) {
        let Some(text) = event.map(StreamEvent::to_text) else {
            return;
        };
        for socket in self.find_watchers(tag) {
            sockets::send(&socket, &text);
        }
    }
}

fn refuse(watch: &WatchCall, problem: &Problem) -> HostResult<Response> {
    respond(&GatewayResponse::problem(problem, &watch.ids.id))
}

/// The status is always 200, because a refusal can have status 204, which allows no body.
fn respond(refusal: &GatewayResponse) -> HostResult<Response> {
    Ok(Response::from_json(refusal)?)
}

fn make_tags(watch: &WatchCall) -> [String; 2] {
    let target = watch.job.as_deref().unwrap_or(LIST_TAG);
    [target.to_owned(), format!("{CALLER_TAG}{}", watch.caller)]
}

fn is_open(socket: &WebSocket) -> bool {
    socket.as_ref().ready_state() == web_sys::WebSocket::OPEN
}
