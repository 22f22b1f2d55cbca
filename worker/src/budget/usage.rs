//! The sliding log of reservations, in memory.

use std::collections::VecDeque;

use quillgate::Millis;

use crate::budget::Used;
use quillgate::RateLimitPolicy;

/// The reservations in a window, by policy and caller.
///
/// A second instance counts reservations by ceiling, with the name of the ceiling in place of the
/// caller. There, one reservation can count under several names.
#[derive(Debug)]
pub struct Usage {
    window: Millis,
    logs: Vec<(RateLimitPolicy, Vec<CallerLog>)>,
}

/// One caller's reservations under one policy.
#[derive(Debug)]
struct CallerLog {
    caller: String,
    /// The times of settled reservations, oldest first.
    settled: VecDeque<u64>,
    /// The id of each reservation in flight and the latest time at which it can settle.
    in_flight: Vec<(u64, u64)>,
}

impl CallerLog {
    /// Removes reservations that have left the window.
    fn expire(&mut self, since: u64) {
        while self.settled.front().is_some_and(|at| *at <= since) {
            self.settled.pop_front();
        }
        self.in_flight.retain(|(_, at)| *at > since);
    }

    fn count(&self) -> usize {
        self.settled.len() + self.in_flight.len()
    }

    /// Removes a reservation in flight. Returns whether it existed.
    fn take(&mut self, id: u64) -> bool {
        let at = self.in_flight.iter().position(|(own, _)| *own == id);
        at.map(|at| self.in_flight.swap_remove(at)).is_some()
    }

    fn oldest(&self) -> Option<u64> {
        let first = self.settled.front().copied();
        let in_flight = self.in_flight.iter().map(|(_, at)| *at);
        in_flight.chain(first).min()
    }
}

impl Usage {
    /// Creates an empty log for a window of this length.
    pub const fn new(window: Millis) -> Self {
        Self {
            window,
            logs: Vec::new(),
        }
    }

    /// Adds a reservation in flight. `at` is the latest time at which it can settle.
    pub fn begin(&mut self, id: u64, policy: RateLimitPolicy, caller: &str, at: Millis) {
        self.log(policy, caller).in_flight.push((id, at.0));
    }

    /// Adds a reservation that settled at `at`. The oldest must be restored first.
    pub fn restore(&mut self, policy: RateLimitPolicy, caller: &str, at: Millis) {
        self.log(policy, caller).settled.push_back(at.0);
    }

    /// Settles a reservation at `now`, which must not be before earlier settlements.
    pub fn settle(&mut self, id: u64, now: Millis) {
        for log in self.all_logs() {
            if log.take(id) {
                log.settled.push_back(now.0);
            }
        }
    }

    /// Changes the latest time at which a reservation in flight can settle.
    pub fn postpone(&mut self, id: u64, at: Millis) {
        let in_flight = self.all_logs().flat_map(|log| &mut log.in_flight);
        for (_, latest) in in_flight.filter(|(own, _)| *own == id) {
            *latest = at.0;
        }
    }

    /// Stops counting a reservation in flight.
    pub fn release(&mut self, id: u64) {
        for log in self.all_logs() {
            log.take(id);
        }
    }

    /// Summarizes a policy's window by caller.
    pub fn summarize(&mut self, policy: RateLimitPolicy, now: Millis) -> Vec<Used> {
        let since = now.since(self.window).0;
        let Some((_, logs)) = self.logs.iter_mut().find(|(own, _)| *own == policy) else {
            return Vec::new();
        };
        logs.retain_mut(|log| {
            log.expire(since);
            log.count() > 0
        });
        let used = |log: &CallerLog| {
            Some(Used {
                caller: log.caller.clone(),
                count: u32::try_from(log.count()).unwrap_or(u32::MAX),
                oldest: log.oldest()?,
            })
        };
        logs.iter().filter_map(used).collect()
    }

    fn all_logs(&mut self) -> impl Iterator<Item = &mut CallerLog> {
        self.logs.iter_mut().flat_map(|(_, logs)| logs)
    }

    fn log(&mut self, policy: RateLimitPolicy, caller: &str) -> &mut CallerLog {
        let is_policy = |(own, _): &(RateLimitPolicy, _)| *own == policy;
        let (_, logs) = find_or_push(&mut self.logs, is_policy, || (policy, Vec::new()));
        let is_caller = |log: &CallerLog| log.caller == caller;
        find_or_push(logs, is_caller, || CallerLog {
            caller: caller.to_owned(),
            settled: VecDeque::new(),
            in_flight: Vec::new(),
        })
    }
}

fn find_or_push<T>(
    items: &mut Vec<T>,
    is_it: impl Fn(&T) -> bool,
    new: impl FnOnce() -> T,
) -> &mut T {
    let found = items.iter().position(is_it);
    let at = found.unwrap_or_else(|| {
        items.push(new());
        items.len() - 1
    });
    &mut items[at]
}
