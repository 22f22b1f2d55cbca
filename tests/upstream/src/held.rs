//! Requests that wait until a test releases them.

use std::collections::VecDeque;

use parking_lot::Mutex;
use tokio::sync::oneshot::{self, error::RecvError};

/// The held requests, oldest first.
#[derive(Default)]
pub(crate) struct HeldRequests(Mutex<VecDeque<oneshot::Sender<()>>>);

impl HeldRequests {
    /// Waits for the release. Fails if the simulator is reset meanwhile.
    pub(crate) async fn wait(&self) -> Result<(), RecvError> {
        let (release, released) = oneshot::channel();
        self.0.lock().push_back(release);
        released.await
    }

    /// The number of held requests whose clients are still connected.
    pub(crate) fn count(&self) -> usize {
        let mut waiting = self.0.lock();
        waiting.retain(|release| !release.is_closed());
        waiting.len()
    }

    /// Releases up to `at_most` requests, oldest first, and returns how many were released.
    pub(crate) fn release(&self, at_most: usize) -> usize {
        let mut waiting = self.0.lock();
        let mut released = 0;
        while released < at_most {
            let Some(release) = waiting.pop_front() else {
                break;
            };
            released += usize::from(release.send(()).is_ok());
        }
        released
    }

    pub(crate) fn cancel(&self) {
        self.0.lock().clear();
    }
}
