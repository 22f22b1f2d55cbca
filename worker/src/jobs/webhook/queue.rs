//! The order of webhook deliveries. A receiver gets one webhook at a time, and receivers take
//! turns. A slow receiver therefore delays only its own webhooks.

use std::collections::{HashMap, HashSet};

use quillgate::Millis;
use serde::Deserialize;

use crate::upstream::permits::ConnectionClass;

/// Maximum number of deliveries in flight: one per connection.
const MAX_IN_FLIGHT: usize = ConnectionClass::Webhook.limit();
/// A receiver is slow after a delivery that took at least this long. Slow receivers share one
/// connection, so that the others stay free.
const SLOW_AFTER: Millis = Millis::from_seconds(5);
/// Duration of a webhook's lease. Until the lease ends, no other alarm sends the webhook. A lease
/// starts before the wait for a permit, and is renewed before the request. The wait and the request
/// each take at most 20 s. If the object restarts during a delivery, the webhook is sent again
/// after the lease.
const LEASE: Millis = Millis::from_seconds(25);
/// Minimum delay of an alarm that is set to the end of a lease.
const MIN_LEASE_PAUSE: Millis = Millis::from_seconds(1);

/// The undelivered webhooks of a receiver.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Waiting {
    /// The origin of the webhooks' addresses.
    pub receiver: String,
    /// When the first of the webhooks is due.
    pub due: Millis,
}

#[derive(Debug)]
struct Delivery {
    started_at: Millis,
    lease_end: Millis,
}

/// The deliveries in flight and the previous deliveries, by receiver.
///
/// ```
/// use quillgate::Millis;
/// use quillgate_worker::jobs::webhook::queue::{DeliveryQueue, Waiting};
///
/// let mut queue = DeliveryQueue::default();
/// let waiting = ["https://a.example", "https://b.example"]
///     .map(|receiver| Waiting { receiver: receiver.to_owned(), due: Millis(0) });
/// queue.begin("https://a.example", Millis(10));
/// assert_eq!(queue.choose(&waiting, Millis(10)), ["https://b.example"]);
/// ```
#[derive(Debug, Default)]
pub struct DeliveryQueue {
    in_flight: HashMap<String, Delivery>,
    /// When the latest delivery to each receiver ended.
    served_at: HashMap<String, Millis>,
    slow: HashSet<String>,
}

impl DeliveryQueue {
    /// Chooses the receivers of the next deliveries: fast ones first, then those that have waited
    /// longest for their turn.
    pub fn choose<'a>(&self, waiting: &'a [Waiting], now: Millis) -> Vec<&'a str> {
        let mut eligible = self.find_eligible(waiting, now);
        eligible.retain(|waiting| waiting.due <= now);
        eligible.sort_by_key(|waiting| {
            let served_at = self.served_at.get(&waiting.receiver).copied();
            (self.is_slow(waiting), served_at, waiting.due)
        });
        let fast = eligible.iter().filter(|waiting| !self.is_slow(waiting));
        let slow = eligible
            .iter()
            .filter(|waiting| self.is_slow(waiting))
            .take(1);
        let chosen = fast.chain(slow).take(self.room());
        chosen.map(|waiting| waiting.receiver.as_str()).collect()
    }

    /// Returns the time of the next alarm: when a webhook that [`Self::choose`] can choose is due
    /// or a lease ends, whichever is first. The end of a delivery schedules the alarm again.
    pub fn next_due(&self, waiting: &[Waiting], now: Millis) -> Option<Millis> {
        // A delivery can outlive its lease. An alarm at the end of that lease would be in the past
        // and would fire continuously.
        let earliest = now.plus(MIN_LEASE_PAUSE);
        let lease_ends = self.in_flight.values();
        let lease_ends = lease_ends.map(|delivery| delivery.lease_end.max(earliest));
        let eligible = self.find_eligible(waiting, now).into_iter();
        eligible.map(|waiting| waiting.due).chain(lease_ends).min()
    }

    /// Starts a delivery, or its request after the wait for a permit. Returns the end of the
    /// webhook's lease.
    pub fn begin(&mut self, receiver: &str, now: Millis) -> Millis {
        let delivery = Delivery {
            started_at: now,
            lease_end: now.plus(LEASE),
        };
        self.in_flight.insert(receiver.to_owned(), delivery);
        now.plus(LEASE)
    }

    /// Ends the delivery to a receiver.
    pub fn finish(&mut self, receiver: &str, now: Millis) {
        let Some(delivery) = self.in_flight.remove(receiver) else {
            return;
        };
        self.served_at.insert(receiver.to_owned(), now);
        if now.since(delivery.started_at) >= SLOW_AFTER {
            self.slow.insert(receiver.to_owned());
        } else {
            self.slow.remove(receiver);
        }
    }

    fn find_eligible<'a>(&self, waiting: &'a [Waiting], now: Millis) -> Vec<&'a Waiting> {
        let is_slow = |(receiver, delivery): (&String, &Delivery)| {
            self.slow.contains(receiver) || now.since(delivery.started_at) >= SLOW_AFTER
        };
        let is_slow_in_flight = self.in_flight.iter().any(is_slow);
        let is_eligible = |waiting: &&Waiting| {
            self.room() > 0
                && !self.in_flight.contains_key(&waiting.receiver)
                && !(is_slow_in_flight && self.is_slow(waiting))
        };
        waiting.iter().filter(is_eligible).collect()
    }

    fn is_slow(&self, waiting: &Waiting) -> bool {
        self.slow.contains(&waiting.receiver)
    }

    fn room(&self) -> usize {
        MAX_IN_FLIGHT.saturating_sub(self.in_flight.len())
    }
}
