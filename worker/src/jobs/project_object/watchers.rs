use std::collections::HashSet;

use wasm_bindgen::JsValue;
use worker::{WebSocket, WebSocketPair};

use crate::http::problem::Problem;
use crate::http::response::GatewayResponse;
use crate::jobs::events::StreamEvent;
use crate::jobs::project_object::Project;
use crate::jobs::project_stub::WatchCall;
use crate::runtime::{HostResult, sockets};

/// The socket's other tag is a job id, which contains no slash, or [`LIST_TAG`].
const CALLER_TAG: char = '/';
/// The tag of sockets that watch all jobs. A caller tag continues with a hash after the slash.
pub(super) const LIST_TAG: &str = "/jobs";

impl Project {
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

    pub(super) fn check_streams(&self, watch: &WatchCall) -> Result<(), GatewayResponse> {
        let settings = &self.settings;
        let owner = watch.job.as_ref().map_or("the project", |_| "the job");
        let [target, caller] = make_tags(watch);
        for (tag, limit, owner) in [
            (caller, settings.streams_per_caller, "the caller"),
            (target, settings.streams_per_job, owner),
        ] {
            if self.find_watchers(&tag).len() >= limit as usize {
                let problem = Problem::too_many_streams(owner, limit);
                return Err(GatewayResponse::problem(&problem, &watch.ids.id));
            }
        }
        Ok(())
    }

    /// The WebSocket stays open when this instance hibernates.
    pub(super) fn open_socket(
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

    /// Returns the number of watchers of the job list.
    pub(super) fn broadcast_list(&self, events: &[StreamEvent]) -> usize {
        let watchers = self.find_watchers(LIST_TAG);
        for event in events {
            let text = event.to_text();
            for socket in &watchers {
                sockets::send(socket, &text);
            }
        }
        watchers.len()
    }
}

fn make_tags(watch: &WatchCall) -> [String; 2] {
    let target = watch.job.as_deref().unwrap_or(LIST_TAG);
    [target.to_owned(), format!("{CALLER_TAG}{}", watch.caller)]
}

fn is_open(socket: &WebSocket) -> bool {
    socket.as_ref().ready_state() == web_sys::WebSocket::OPEN
}
