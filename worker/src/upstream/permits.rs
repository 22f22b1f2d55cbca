//! Permits for outgoing requests of a Durable Object.
//!
//! The runtime lets an object wait for the response headers of six requests at a time, and queues
//! further requests. A timeout would already run while its request is in that queue. The object
//! therefore has its own queue, and starts a request's timeout when the request leaves it.
//!
//! Webhooks and reads have fewer permits than there are connections. Slow receivers or a slow
//! upstream therefore never block writes.

use crate::http::problem::Problem;
use crate::http::problem_kind::ProblemKind;

/// Maximum number of concurrent requests per object: the runtime's limit.
pub const MAX_CONNECTIONS: usize = 6;
/// Maximum number of queued requests per class.
pub const MAX_WAITING: usize = 256;

/// The class of a request. Each class has its own limit of concurrent requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionClass {
    /// The creation of a job, or a follow-up.
    Write,
    /// A read of a job, including polls.
    ReadJob,
    /// A read of a page of analytics. It leaves two connections for requests for issuers' keys.
    ReadPage,
    /// The delivery of a webhook.
    Webhook,
}

impl ConnectionClass {
    /// Returns the maximum number of concurrent requests in this class.
    pub const fn limit(self) -> usize {
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
    /// The request has a permit and may be sent.
    Granted,
    /// The request waits until [`Permits::release`] returns this number.
    Queued(u64),
    /// The queue is full. Return 503 `gateway-busy` and send nothing.
    Refused(Problem),
}

/// The permits of an object.
///
/// ```
/// use quillgate_worker::upstream::permits::{Admission, ConnectionClass, Permits};
///
/// let mut permits = Permits::default();
/// for _ in 0..2 {
///     assert_eq!(permits.ask(ConnectionClass::Webhook), Admission::Granted);
/// }
/// let Admission::Queued(third) = permits.ask(ConnectionClass::Webhook) else { panic!() };
/// assert_eq!(permits.ask(ConnectionClass::Write), Admission::Granted);
/// assert_eq!(permits.release(ConnectionClass::Webhook), Some(third));
/// ```
#[derive(Debug, Default)]
pub struct Permits {
    held: Vec<ConnectionClass>,
    /// The number and class of each queued request, in order of arrival.
    waiting: Vec<(u64, ConnectionClass)>,
    last: u64,
}

impl Permits {
    /// Requests a permit. Queues the request if its class or the object has none left.
    pub fn ask(&mut self, class: ConnectionClass) -> Admission {
        if self.is_free(class) {
            self.held.push(class);
            return Admission::Granted;
        }
        let waiting = self.waiting.iter().filter(|(_, own)| *own == class);
        if waiting.count() >= MAX_WAITING {
            return Admission::Refused(busy_problem());
        }
        self.last += 1;
        self.waiting.push((self.last, class));
        Admission::Queued(self.last)
    }

    /// Releases a permit and grants it to the first eligible request in the queue. Returns the
    /// number of that request.
    pub fn release(&mut self, class: ConnectionClass) -> Option<u64> {
        let at = self.held.iter().position(|own| *own == class)?;
        self.held.swap_remove(at);
        let mut waiting = self.waiting.iter();
        let next = waiting.position(|(_, own)| self.is_free(*own))?;
        let (number, class) = self.waiting.remove(next);
        self.held.push(class);
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

    fn is_free(&self, class: ConnectionClass) -> bool {
        let own = self.held.iter().filter(|own| **own == class).count();
        self.held.len() < MAX_CONNECTIONS && own < class.limit()
    }
}

/// Returns 503 for a request that was not sent because all connections are in use.
pub fn busy_problem() -> Problem {
    let detail = "all connections to the upstream are in use; nothing was sent upstream";
    Problem::new(ProblemKind::GatewayBusy, detail).with_header("retry-after", "5")
}
