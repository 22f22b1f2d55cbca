//! The connections of a Durable Object. Requests wait here for a permit from
//! [`crate::upstream::permits`].

use std::cell::RefCell;
use std::rc::Rc;

use quillgate::Millis;

use crate::http::problem::Problem;
use crate::runtime::{Wait, Wake};
use crate::upstream::permits::{Admission, ConnectionClass, Permits};

/// A Durable Object's outgoing connections, and the requests that wait for one.
#[derive(Clone, Default)]
pub struct Connections(Rc<RefCell<Queue>>);

#[derive(Default)]
struct Queue {
    permits: Permits,
    /// The number of each queued request, and the wake that ends its wait.
    waiting: Vec<(u64, Wake)>,
}

/// A permit for one connection. Dropping it releases the connection.
pub struct Permit {
    connections: Connections,
    class: ConnectionClass,
    /// Whether the request waited for a free connection.
    pub has_waited: bool,
}

impl Connections {
    /// Waits for a connection, at most for `time`.
    ///
    /// # Errors
    /// 503 `gateway-busy` if the queue is full or no connection is available in time.
    pub async fn acquire(&self, class: ConnectionClass, time: Millis) -> Result<Permit, Problem> {
        let admission = self.0.borrow_mut().permits.ask(class);
        let has_waited = match admission {
            Admission::Granted => false,
            Admission::Refused(problem) => return Err(problem),
            Admission::Queued(number) => {
                self.wait(number, time).await?;
                true
            }
        };
        Ok(Permit {
            connections: self.clone(),
            class,
            has_waited,
        })
    }

    async fn wait(&self, number: u64, time: Millis) -> Result<(), Problem> {
        Wait::begin(time, |wake| {
            self.0.borrow_mut().waiting.push((number, wake));
        })
        .await;
        // The permit may have been granted just before the timeout.
        let mut queue = self.0.borrow_mut();
        queue.waiting.retain(|(own, _)| *own != number);
        queue.permits.stop_waiting(number)
    }

    fn release(&self, class: ConnectionClass) {
        let mut queue = self.0.borrow_mut();
        let next = queue.permits.release(class);
        let waiting = queue.waiting.iter().find(|(own, _)| Some(*own) == next);
        if let Some((_, wake)) = waiting {
            wake.wake();
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.connections.release(self.class);
    }
}
