//! The connections of a Durable Object. A request waits for a permit from
//! [`crate::upstream::permits`] before it opens a connection.

use std::cell::RefCell;
use std::rc::Rc;

use quillgate::Millis;

use crate::http::problem::Problem;
use crate::runtime::{Wait, Wake};
use crate::upstream::permits::{ConnectionClass, Permits, busy_problem};

/// A Durable Object's outgoing connections, and the requests that wait for one.
#[derive(Clone, Default)]
pub struct Connections(Rc<RefCell<Queue>>);

#[derive(Default)]
struct Queue {
    permits: Permits,
    /// The number of each queued request, and the wake that ends its wait.
    waiting: Vec<(u64, Wake)>,
}

/// A permit for one connection. Dropping the permit releases the connection.
pub struct Permit {
    connections: Connections,
    number: u64,
    /// Whether the request waited for a free connection.
    pub has_waited: bool,
}

impl Connections {
    /// Waits until a connection is available, for at most `time`.
    ///
    /// # Errors
    /// Returns 503 `gateway-busy` if the queue is full or no connection is available in time.
    pub async fn acquire(&self, class: ConnectionClass, time: Millis) -> Result<Permit, Problem> {
        let number = self.0.borrow_mut().permits.request(class)?;
        // If this future is dropped while it waits, dropping the permit removes the request from
        // the queue.
        let permit = Permit {
            connections: self.clone(),
            number,
            has_waited: !self.is_granted(number),
        };
        if permit.has_waited {
            let keep = |wake| self.0.borrow_mut().waiting.push((number, wake));
            Wait::begin(time, keep).await;
            if !self.is_granted(number) {
                return Err(busy_problem());
            }
        }
        Ok(permit)
    }

    fn is_granted(&self, number: u64) -> bool {
        self.0.borrow().permits.is_granted(number)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let queue = &mut *self.connections.0.borrow_mut();
        let next = queue.permits.release(self.number);
        queue.waiting.retain(|(number, wake)| {
            let is_next = Some(*number) == next;
            if is_next {
                wake.wake();
            }
            !is_next && *number != self.number
        });
    }
}
