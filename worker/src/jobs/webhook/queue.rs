//! The order of webhook deliveries. A receiver gets one webhook at a time, so a slow receiver
//! delays only its own webhooks.

use quillgate::Millis;
use serde::Deserialize;

use crate::upstream::permits::ConnectionClass;

/// One per connection.
const MAX_IN_FLIGHT: usize = ConnectionClass::Webhook.limit();
/// Receivers that take this long share one connection, so that the others stay free.
const SLOW_AFTER: Millis = Millis::from_seconds(5);
/// Until the lease ends, no other alarm sends the webhook. It is renewed before the request: the
/// wait for a permit and the request each take at most 20 s.
pub const LEASE: Millis = Millis::from_seconds(25);
const MIN_LEASE_PAUSE: Millis = Millis::from_seconds(1);

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Waiting {
    /// The origin of the webhooks' addresses.
    pub receiver: String,
    pub due: Millis,
}

#[derive(Debug, Clone)]
struct Delivery {
    receiver: String,
    leased_at: Millis,
    /// `None` while the delivery waits for a permit.
    sent_at: Option<Millis>,
}

#[derive(Debug, Clone)]
struct Served {
    receiver: String,
    at: Millis,
    is_slow: bool,
}

#[derive(Debug, Clone, Default)]
pub struct DeliveryQueue {
    in_flight: Vec<Delivery>,
    served: Vec<Served>,
}

impl DeliveryQueue {
    /// A fast receiver, then the one that has waited longest for its turn.
    pub fn choose<'a>(&self, waiting: &'a [Waiting], now: Millis) -> Option<&'a str> {
        let due = self.eligible(waiting, now).filter(|one| one.due <= now);
        let first = due.min_by_key(|one| {
            let served_at = self.find_served(&one.receiver).map(|served| served.at);
            (self.was_slow(&one.receiver), served_at, one.due)
        });
        first.map(|one| one.receiver.as_str())
    }

    /// When a webhook that [`Self::choose`] can choose is due or a lease ends. The end of a
    /// delivery schedules the alarm again.
    pub fn next_due(&self, waiting: &[Waiting], now: Millis) -> Option<Millis> {
        // A delivery can outlive its lease. An alarm at the end of that lease would be in the past
        // and would fire continuously.
        let earliest = now.plus(MIN_LEASE_PAUSE);
        let leases = self.in_flight.iter();
        let lease_ends = leases.map(|delivery| delivery.leased_at.plus(LEASE).max(earliest));
        let due = self.eligible(waiting, now).map(|one| one.due);
        due.chain(lease_ends).min()
    }

    /// The delivery first waits for a permit.
    pub fn begin(&mut self, receiver: &str, now: Millis) {
        self.replace(receiver, now, None);
    }

    /// Renews the lease.
    pub fn begin_request(&mut self, receiver: &str, now: Millis) {
        self.replace(receiver, now, Some(now));
    }

    fn replace(&mut self, receiver: &str, leased_at: Millis, sent_at: Option<Millis>) {
        self.in_flight
            .retain(|delivery| delivery.receiver != receiver);
        self.in_flight.push(Delivery {
            receiver: receiver.to_owned(),
            leased_at,
            sent_at,
        });
    }

    /// A delivery without a request does not show whether the receiver is slow.
    pub fn finish(&mut self, receiver: &str, now: Millis) {
        let is_own = |delivery: &Delivery| delivery.receiver == receiver;
        let Some(index) = self.in_flight.iter().position(is_own) else {
            return;
        };
        let Delivery {
            receiver, sent_at, ..
        } = self.in_flight.swap_remove(index);
        let is_slow = sent_at.map_or_else(
            || self.was_slow(&receiver),
            |sent_at| now.since(sent_at) >= SLOW_AFTER,
        );
        self.served.retain(|served| served.receiver != receiver);
        self.served.push(Served {
            receiver,
            at: now,
            is_slow,
        });
    }

    fn eligible<'a>(
        &self,
        waiting: &'a [Waiting],
        now: Millis,
    ) -> impl Iterator<Item = &'a Waiting> {
        let has_room = self.in_flight.len() < MAX_IN_FLIGHT;
        let is_slow_in_flight = self.in_flight.iter().any(|delivery| {
            let is_slow = |sent_at| now.since(sent_at) >= SLOW_AFTER;
            delivery.sent_at.is_some_and(is_slow) || self.was_slow(&delivery.receiver)
        });
        let is_in_flight = |one: &Waiting| {
            let mut deliveries = self.in_flight.iter();
            deliveries.any(|delivery| delivery.receiver == one.receiver)
        };
        waiting.iter().filter(move |one| {
            has_room && !is_in_flight(one) && !(is_slow_in_flight && self.was_slow(&one.receiver))
        })
    }

    fn find_served(&self, receiver: &str) -> Option<&Served> {
        self.served
            .iter()
            .find(|served| served.receiver == receiver)
    }

    fn was_slow(&self, receiver: &str) -> bool {
        self.find_served(receiver)
            .is_some_and(|served| served.is_slow)
    }
}
