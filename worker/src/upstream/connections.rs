use std::cell::RefCell;
use std::rc::Rc;

use quillgate::Millis;

use crate::http::problem::Problem;
use crate::runtime::{HostResult, Wake, wait};
use crate::upstream::client::{Exchange, UpstreamResponse, send_upstream};
use crate::upstream::permits::{ConnectionClass, Permits, busy_problem};
use crate::upstream::request::UpstreamRequest;
use crate::upstream::upstream_settings::UpstreamSettings;

#[derive(Clone, Default)]
pub struct Connections(Rc<RefCell<Queue>>);

#[derive(Default)]
struct Queue {
    permits: Permits,
    waiting: Vec<(u64, Wake)>,
}

/// Dropping the permit releases the connection.
pub struct Permit {
    connections: Connections,
    number: u64,
    pub has_waited: bool,
}

impl Connections {
    /// Fails with 503 `gateway-busy` if the queue is full or the time is up.
    pub async fn acquire(&self, class: ConnectionClass, time: Millis) -> Result<Permit, Problem> {
        let number = self.0.borrow_mut().permits.request(class)?;
        // If this future is dropped while it waits, dropping the permit leaves the queue.
        let permit = Permit {
            connections: self.clone(),
            number,
            has_waited: !self.is_granted(number),
        };
        if permit.has_waited {
            let keep = |wake| self.0.borrow_mut().waiting.push((number, wake));
            wait(time, keep).await;
            if !self.is_granted(number) {
                return Err(busy_problem());
            }
        }
        Ok(permit)
    }

    /// After a wait, calls `postpone` first, because the request's timeout starts only then; if
    /// that fails, nothing is sent. `pay` is as in [`send_upstream`].
    pub async fn send(
        &self,
        settings: &UpstreamSettings,
        request: &UpstreamRequest<'_>,
        postpone: impl FnOnce() -> HostResult<()>,
        pay: &mut dyn FnMut() -> bool,
    ) -> Exchange<UpstreamResponse> {
        let class = ConnectionClass::of(request.operation);
        let permit = match self.acquire(class, settings.timeout).await {
            Ok(permit) => permit,
            Err(problem) => return Exchange::not_sent(problem),
        };
        if permit.has_waited && postpone().is_err() {
            return Exchange::not_sent(Problem::object_unavailable());
        }
        send_upstream(settings, request, pay).await
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
