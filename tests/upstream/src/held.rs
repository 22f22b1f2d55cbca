//! Requests that wait until a test releases them.

use parking_lot::Mutex;
use tokio::sync::oneshot::{self, error::RecvError};

/// The held requests, oldest first.
#[derive(Default)]
pub(crate) struct HeldRequests(Mutex<Vec<oneshot::Sender<()>>>);

impl HeldRequests {
    /// Waits for the release. Fails if the simulator is reset meanwhile.
    pub(crate) async fn wait(&self) -> Result<(), RecvError> {
        let (release, released) = oneshot::channel();
        self.0.lock().push(release);
        released.await
    }

    /// The number of held requests whose clients are still connected.
    pub(crate) fn count(&self) -> usize {
        let mut waiting = self.0.lock();
        waiting.retain(|release| !release.is_closed());
        waiting.len()
    }

    pub(crate) fn release(&self) {
        for release in self.0.lock().drain(..) {
            // Fails if the client has disconnected.
            let _ = release.send(());
        }
    }

    pub(crate) fn cancel(&self) {
        self.0.lock().clear();
    }
}
