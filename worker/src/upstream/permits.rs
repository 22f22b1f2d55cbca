//! Permits for outgoing requests. The runtime lets an object wait for six response heads at a time,
//! and a request's timeout would run in the runtime's queue, so the object has its own queue.
//! Webhooks and reads have fewer permits than there are connections, so they never block writes.

use quillgate::{Method, Operation};

use crate::http::problem::Problem;
use crate::http::problem_kind::ProblemKind;

/// The runtime's limit per object.
pub const MAX_CONNECTIONS: usize = 6;
/// Per class.
pub const MAX_WAITING: usize = 256;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionClass {
    Write,
    /// Includes polls.
    ReadJob,
    /// Analytics.
    ReadPage,
    Webhook,
}

impl ConnectionClass {
    pub const fn of(operation: Operation) -> Self {
        match operation {
            Operation::GetAgentJob | Operation::GetDeployment => Self::ReadJob,
            _ if matches!(operation.declaration().method, Method::Post) => Self::Write,
            _ => Self::ReadPage,
        }
    }

    pub const fn limit(self) -> usize {
        match self {
            Self::Write => MAX_CONNECTIONS,
            Self::ReadJob => 3,
            Self::ReadPage => 4,
            Self::Webhook => 2,
        }
    }
}

#[derive(Debug, Default)]
pub struct Permits {
    /// The number and class of each request.
    held: Vec<(u64, ConnectionClass)>,
    /// In order of arrival.
    waiting: Vec<(u64, ConnectionClass)>,
    last: u64,
}

impl Permits {
    /// Joins the queue if no permit is free. Returns the number of the request.
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

    pub fn is_granted(&self, number: u64) -> bool {
        self.held.iter().any(|(own, _)| *own == number)
    }

    /// Also leaves the queue. Returns the number of the request that receives the free permit.
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

pub fn busy_problem() -> Problem {
    let detail = "all connections to Mintlify are in use; nothing was sent";
    Problem::new(ProblemKind::GatewayBusy, detail).with_header("retry-after", "5")
}
