//! Permits for outgoing requests of a Durable Object.
//!
//! The runtime lets an object wait for six response heads at a time. A request's timeout would run
//! while the request is in the runtime's queue, so the object has its own queue.
//!
//! Webhooks and reads have fewer permits than there are connections, so they never block writes.

use quillgate::Operation;

use crate::http::problem::Problem;
use crate::http::problem_kind::ProblemKind;

/// Maximum number of concurrent requests per object: the runtime's limit.
pub const MAX_CONNECTIONS: usize = 6;
/// Maximum number of queued requests per class.
pub const MAX_WAITING: usize = 256;

/// The class of a request, with its own limit of concurrent requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionClass {
    /// The creation of a job, or a follow-up.
    Write,
    /// A read of a job, including polls.
    ReadJob,
    /// A read of a page of analytics.
    ReadPage,
    /// The delivery of a webhook.
    Webhook,
}

impl ConnectionClass {
    /// Returns the class of a request to Mintlify.
    pub const fn of(operation: Operation) -> Self {
        match operation {
            Operation::CreateAgentJob | Operation::SendMessage => Self::Write,
            Operation::GetAgentJob => Self::ReadJob,
            _ => Self::ReadPage,
        }
    }

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

/// The permits for a Durable Object's connections, and the requests that wait for one.
///
/// ```
/// use quillgate_worker::upstream::permits::{ConnectionClass, Permits};
///
/// let mut permits = Permits::default();
/// let [first, _, third] = [(); 3].map(|()| permits.request(ConnectionClass::Webhook).unwrap());
/// assert!(!permits.is_granted(third));
/// assert_eq!(permits.release(first), Some(third));
/// assert!(permits.is_granted(third));
/// ```
#[derive(Debug, Default)]
pub struct Permits {
    /// The number and class of each request.
    held: Vec<(u64, ConnectionClass)>,
    /// The same for queued requests, in order of arrival.
    waiting: Vec<(u64, ConnectionClass)>,
    last: u64,
}

impl Permits {
    /// Requests a permit or joins the queue. Returns the number of the request.
    ///
    /// # Errors
    /// Returns 503 `gateway-busy` if the queue of the class is full.
    pub fn request(&mut self, class: ConnectionClass) -> Result<u64, Problem> {
        let is_free = self.is_free(class);
        if !is_free && count(&self.waiting, class) >= MAX_WAITING {
            return Err(busy_problem());
        }
        self.last += 1;
        let requests = if is_free {
            &mut self.held
        } else {
            &mut self.waiting
        };
        requests.push((self.last, class));
        Ok(self.last)
    }

    /// Whether the request with this number has a permit.
    pub fn is_granted(&self, number: u64) -> bool {
        self.held.iter().any(|(own, _)| *own == number)
    }

    /// Releases a permit, or leaves the queue. Then grants a free permit to the first eligible
    /// request, and returns its number.
    pub fn release(&mut self, number: u64) -> Option<u64> {
        self.held.retain(|(own, _)| *own != number);
        self.waiting.retain(|(own, _)| *own != number);
        let mut waiting = self.waiting.iter();
        let next = waiting.position(|(_, class)| self.is_free(*class))?;
        let next = self.waiting.remove(next);
        self.held.push(next);
        Some(next.0)
    }

    fn is_free(&self, class: ConnectionClass) -> bool {
        self.held.len() < MAX_CONNECTIONS && count(&self.held, class) < class.limit()
    }
}

fn count(requests: &[(u64, ConnectionClass)], class: ConnectionClass) -> usize {
    requests.iter().filter(|(_, own)| *own == class).count()
}

/// Returns the 503 for a request that found no connection.
pub fn busy_problem() -> Problem {
    let detail = "all connections to the upstream are in use; nothing was sent upstream";
    Problem::new(ProblemKind::GatewayBusy, detail).with_header("retry-after", "5")
}
