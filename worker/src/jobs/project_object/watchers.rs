//! The sockets of watchers: limits, tags and broadcasts.

use wasm_bindgen::JsValue;
use worker::{WebSocket, WebSocketPair};

use crate::http::problem::Problem;
use crate::jobs::events::{JobEvent, ListEvent};
use crate::jobs::project_object::Project;
use crate::runtime::{HostResult, sockets};

/// The prefix of the caller tag, which every socket has. Its other tag is the job id, which has no
/// slash, or [`LIST_TAG`].
pub(super) const CALLER_TAG: char = '/';
/// The tag of sockets that watch all jobs. Caller tags continue with a hash and never equal it.
pub(super) const LIST_TAG: &str = "/jobs";
/// The `readyState` of an open socket.
const OPEN: u16 = 1;

/// The targets of all open sockets.
pub(super) struct WatchedTargets {
    /// The ids of the watched jobs, sorted and unique.
    pub(super) jobs: Vec<String>,
    pub(super) is_list_watched: bool,
}

impl Project {
    /// Returns the open sockets of a job, the list or a caller. A closing socket accepts no messages;
    /// its client receives missed changes when it reconnects.
    pub(super) fn find_watchers(&self, tag: &str) -> Vec<WebSocket> {
        let mut sockets = self.state.get_websockets_with_tag(tag);
        sockets.retain(is_open);
        sockets
    }

    /// Collects the targets of all open sockets.
    pub(super) fn find_watched_targets(&self) -> WatchedTargets {
        let mut jobs: Vec<String> = Vec::new();
        let mut is_list_watched = false;
        for socket in self.state.get_websockets() {
            if !is_open(&socket) {
                continue;
            }
            for tag in self.state.get_tags(&socket) {
                if tag == LIST_TAG {
                    is_list_watched = true;
                } else if !tag.starts_with(CALLER_TAG)
                    && let Err(at) = jobs.binary_search(&tag)
                {
                    jobs.insert(at, tag);
                }
            }
        }
        WatchedTargets {
            jobs,
            is_list_watched,
        }
    }

    /// Checks whether one more stream is within the limits of its caller and target.
    pub(super) fn check_streams(&self, caller_tag: &str, watched: &str) -> Result<(), Problem> {
        let settings = &self.settings;
        let owner = match watched {
            LIST_TAG => "the project",
            _ => "the job",
        };
        for (tag, limit, owner) in [
            (caller_tag, settings.streams_per_caller, "the caller"),
            (watched, settings.streams_per_job, owner),
        ] {
            if self.find_watchers(tag).len() >= limit as usize {
                return Err(Problem::too_many_streams(owner, limit));
            }
        }
        Ok(())
    }

    /// Opens a WebSocket with these tags. It stays open when this instance hibernates.
    pub(super) fn open_socket(&self, tag: &str, caller_tag: &str) -> HostResult<WebSocketPair> {
        let pair = WebSocketPair::new()?;
        // The wrapper in `worker` panics if a tag is too long.
        let tags = vec![JsValue::from_str(tag), JsValue::from_str(caller_tag)];
        let raw = self.state.as_raw();
        raw.accept_websocket_with_tags(pair.server.as_ref(), tags)?;
        Ok(pair)
    }

    /// Sends list changes to the watchers of all jobs. Returns the number of watchers.
    pub(super) fn broadcast_list(&self, events: &[ListEvent]) -> usize {
        let watchers = self.find_watchers(LIST_TAG);
        for event in events {
            let text = event.to_text();
            for socket in &watchers {
                sockets::send(socket, &text);
            }
        }
        watchers.len()
    }

    /// Sends a job change to the watchers of the job. Closes their sockets after the final change.
    pub(super) fn broadcast(&self, job: &str, event: &JobEvent) {
        let text = event.to_text();
        for socket in self.find_watchers(job) {
            sockets::send(&socket, &text);
            if event.is_final() {
                sockets::close(&socket, "finished");
            }
        }
    }
}

fn is_open(socket: &WebSocket) -> bool {
    socket.as_ref().ready_state() == OPEN
}
