//! Requests that wait until a test lets them go on.

use std::collections::VecDeque;

use parking_lot::Mutex;
use tokio::sync::oneshot;

/// The held requests, in the order in which they came.
#[derive(Default)]
pub(crate) struct Held(Mutex<VecDeque<oneshot::Sender<()>>>);

/// The simulator was reset: nobody is interested in the request any more.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Forgotten;

impl Held {
    /// Waits for the release.
    pub(crate) async fn wait(&self) -> Result<(), Forgotten> {
        let (release, released) = oneshot::channel();
        self.0.lock().push_back(release);
        released.await.map_err(|_| Forgotten)
    }

    /// How many wait whose clients are still there.
    pub(crate) fn count(&self) -> usize {
        let mut waiting = self.0.lock();
        waiting.retain(|release| !release.is_closed());
        waiting.len()
    }

    /// Lets the oldest ones go on, at most so many, and says how many there were.
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

    pub(crate) fn forget(&self) {
        self.0.lock().clear();
    }
}
