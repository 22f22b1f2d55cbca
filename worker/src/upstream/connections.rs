//! The connections of a Durable Object: who may use one is decided by [`crate::upstream::permits`]; here a
//! request waits for its turn.

use std::cell::RefCell;
use std::rc::Rc;

use quillgate::Millis;

use crate::http::problem::Problem;
use crate::runtime::{Wait, Wake};
use crate::upstream::permits::{Admission, Lane, Permits};

/// The connections of an object.
#[derive(Clone, Default)]
pub struct Connections(Rc<RefCell<Queue>>);

#[derive(Default)]
struct Queue {
    permits: Permits,
    /// What wakes each request that waits.
    waiting: Vec<(u64, Wake)>,
}

/// The right to one connection, until it is dropped.
pub struct Permit {
    connections: Connections,
    lane: Lane,
    /// Whether it had to be waited for.
    pub has_waited: bool,
}

impl Connections {
    /// Waits for a connection, but not for longer than `time`.
    ///
    /// # Errors
    /// 503 `gateway-busy`: nothing may be sent.
    pub async fn acquire(&self, lane: Lane, time: Millis) -> Result<Permit, Problem> {
        let admission = self.0.borrow_mut().permits.ask(lane);
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
            lane,
            has_waited,
        })
    }

    async fn wait(&self, number: u64, time: Millis) -> Result<(), Problem> {
        Wait::begin(time, |wake| {
            self.0.borrow_mut().waiting.push((number, wake));
        })
        .await;
        // Only the permits know which of the two was first.
        let mut queue = self.0.borrow_mut();
        queue.waiting.retain(|(own, _)| *own != number);
        queue.permits.stop_waiting(number)
    }

    fn release(&self, lane: Lane) {
        let mut queue = self.0.borrow_mut();
        let next = queue.permits.release(lane);
        let waiting = queue.waiting.iter().find(|(own, _)| Some(*own) == next);
        if let Some((_, wake)) = waiting {
            wake.wake();
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.connections.release(self.lane);
    }
}
