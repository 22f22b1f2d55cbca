//! Permits for outgoing requests of a Durable Object.
//!
//! The runtime limits an object to six requests without a response head. It queues further requests
//! while their deadlines run, so the object queues them before their deadlines start.
//!
//! Webhooks and reads have fewer permits than there are connections. Slow receivers or a slow
//! upstream therefore never block writes.

use crate::http::problem::Problem;
use crate::http::problem_kind::ProblemKind;

/// Maximum number of concurrent requests per object.
pub const MAX_CONNECTIONS: usize = 6;
/// Maximum number of queued requests per lane.
pub const MAX_WAITING: usize = 256;

/// The class of a request, which has its own limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// A write to the upstream.
    Write,
    /// A read of a job.
    ReadJob,
    /// A read of a page of analytics. Two connections remain for the keys of issuers.
    ReadPage,
    /// A delivery of a webhook.
    Webhook,
}

impl Lane {
    /// Returns the maximum number of concurrent requests in this lane.
    #[must_use]
    pub const fn most(self) -> usize {
        match self {
            Self::Write => MAX_CONNECTIONS,
            Self::ReadJob => 3,
            Self::ReadPage => 4,
            Self::Webhook => 2,
        }
    }
}

/// The result of a request for a permit.
#[derive(Debug, Clone, PartialEq)]
pub enum Admission {
    /// The request may be sent.
    Granted,
    /// The request waits until [`Permits::release`] returns this number.
    Queued(u64),
    /// The queue is full. Return 503 `gateway-busy` and send nothing.
    Refused(Problem),
}

/// The permits of an object.
///
/// ```
/// use quillgate_worker::upstream::permits::{Admission, Lane, Permits};
///
/// let mut permits = Permits::default();
/// for _ in 0..2 {
///     assert_eq!(permits.ask(Lane::Webhook), Admission::Granted);
/// }
/// let Admission::Queued(third) = permits.ask(Lane::Webhook) else { panic!() };
/// assert_eq!(permits.ask(Lane::Write), Admission::Granted);
/// assert_eq!(permits.release(Lane::Webhook), Some(third));
/// ```
#[derive(Debug, Default)]
pub struct Permits {
    held: Vec<Lane>,
    /// In order of arrival.
    waiting: Vec<(u64, Lane)>,
    last: u64,
}

impl Permits {
    /// Requests a permit.
    pub fn ask(&mut self, lane: Lane) -> Admission {
        if self.is_free(lane) {
            self.held.push(lane);
            return Admission::Granted;
        }
        let waiting = self.waiting.iter().filter(|(_, own)| *own == lane);
        if waiting.count() >= MAX_WAITING {
            return Admission::Refused(busy_problem());
        }
        self.last += 1;
        self.waiting.push((self.last, lane));
        Admission::Queued(self.last)
    }

    /// Releases a permit and grants it to the first eligible request in the queue. Returns the number of
    /// that request.
    pub fn release(&mut self, lane: Lane) -> Option<u64> {
        let at = self.held.iter().position(|own| *own == lane)?;
        self.held.swap_remove(at);
        let mut waiting = self.waiting.iter();
        let next = waiting.position(|(_, own)| self.is_free(*own))?;
        let (number, lane) = self.waiting.remove(next);
        self.held.push(lane);
        Some(number)
    }

    /// Removes a request from the queue. If it already has a permit, it keeps the permit.
    ///
    /// # Errors
    /// 503 `gateway-busy` if the request has not received a permit.
    pub fn stop_waiting(&mut self, number: u64) -> Result<(), Problem> {
        let found = self.waiting.iter().position(|(own, _)| *own == number);
        match found {
            None => Ok(()),
            Some(at) => {
                self.waiting.remove(at);
                Err(busy_problem())
            }
        }
    }

    fn is_free(&self, lane: Lane) -> bool {
        let own = self.held.iter().filter(|own| **own == lane).count();
        self.held.len() < MAX_CONNECTIONS && own < lane.most()
    }
}

/// Returns 503 for a request that was not sent because all connections are in use.
#[must_use]
pub fn busy_problem() -> Problem {
    let detail = "all connections to the upstream are in use; nothing was sent";
    Problem::new(ProblemKind::GatewayBusy, detail).with_header("retry-after", "5")
}
