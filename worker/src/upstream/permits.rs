//! Which requests of a Durable Object may go out: an object may wait for the heads of six answers at
//! a time, and the runtime queues a seventh request while its deadline already runs. So the
//! object queues it itself, before its deadline begins.
//!
//! Webhooks and reads have fewer permits than there are connections, so that one is always free for
//! a request that writes, however slow the upstream and the receivers are.

use crate::http::problem::Problem;
use crate::http::problem_kind::ProblemKind;

/// How many requests of an object may be under way.
pub const MOST_CONNECTIONS: usize = 6;
/// How many requests of a lane may wait for a permit.
pub const MOST_WAITING: usize = 256;

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// To change something upstream.
    Write,
    /// To read a job.
    ReadJob,
    /// To read a page of analytics: two connections are left for the keys of issuers.
    ReadPage,
    /// To deliver a webhook.
    Webhook,
}

impl Lane {
    /// How many requests of this lane may be under way.
    #[must_use]
    pub const fn most(self) -> usize {
        match self {
            Self::Write => MOST_CONNECTIONS,
            Self::ReadJob => 3,
            Self::ReadPage => 4,
            Self::Webhook => 2,
        }
    }
}

/// What becomes of a request that asks for a permit.
#[derive(Debug, Clone, PartialEq)]
pub enum Admission {
    /// It may go out.
    Granted,
    /// It waits under this number, until [`Permits::release`] gives that back.
    Queued(u64),
    /// Too many are waiting: 503 `gateway-busy`, and nothing is sent.
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
    /// In the order in which they came.
    waiting: Vec<(u64, Lane)>,
    last: u64,
}

impl Permits {
    /// Asks for a permit.
    pub fn ask(&mut self, lane: Lane) -> Admission {
        if self.is_free(lane) {
            self.held.push(lane);
            return Admission::Granted;
        }
        let waiting = self.waiting.iter().filter(|(_, own)| *own == lane);
        if waiting.count() >= MOST_WAITING {
            return Admission::Refused(busy_problem());
        }
        self.last += 1;
        self.waiting.push((self.last, lane));
        Admission::Queued(self.last)
    }

    /// Gives a permit back. Returns the number of the request that holds it from now on: the first
    /// that may.
    pub fn release(&mut self, lane: Lane) -> Option<u64> {
        let at = self.held.iter().position(|own| *own == lane)?;
        self.held.swap_remove(at);
        let mut waiting = self.waiting.iter();
        let next = waiting.position(|(_, own)| self.is_free(*own))?;
        let (number, lane) = self.waiting.remove(next);
        self.held.push(lane);
        Some(number)
    }

    /// Stops waiting.
    ///
    /// # Errors
    /// 503 `gateway-busy` for a request that did not get a permit in time; one that was granted its
    /// permit meanwhile holds it.
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
        self.held.len() < MOST_CONNECTIONS && own < lane.most()
    }
}

/// 503: all connections are in use, and nothing was sent.
#[must_use]
pub fn busy_problem() -> Problem {
    let detail = "all connections to the upstream are in use; nothing was sent";
    Problem::new(ProblemKind::GatewayBusy, detail).with_header("retry-after", "5")
}
