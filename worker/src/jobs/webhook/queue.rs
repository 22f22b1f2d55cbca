//! The order of webhook deliveries. A receiver gets one webhook at a time, and receivers take
//! turns. A slow receiver therefore delays only its own webhooks.

use quillgate::Millis;
use serde::Deserialize;

use crate::upstream::permits::ConnectionClass;

/// Maximum number of deliveries in flight: one per connection.
const MAX_IN_FLIGHT: usize = ConnectionClass::Webhook.limit();
/// A receiver is slow after a request that took at least this long. Slow receivers share one
/// connection, so that the others stay free.
const SLOW_AFTER: Millis = Millis::from_seconds(5);
/// Duration of a webhook's lease. Until the lease ends, no other alarm sends the webhook. A lease
/// starts before the wait for a permit, and is renewed before the request. The wait and the request
/// each take at most 20 s. If the object restarts during a delivery, the webhook is sent again
/// after the lease.
pub const LEASE: Millis = Millis::from_seconds(25);
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

#[derive(Debug, Clone)]
struct Delivery {
    receiver: String,
    leased_at: Millis,
    /// When the request was sent. `None` while the delivery waits for a permit.
    sent_at: Option<Millis>,
}

#[derive(Debug, Clone)]
struct Served {
    receiver: String,
    at: Millis,
    is_slow: bool,
}

/// The deliveries in flight, and the latest delivery to each receiver.
///
/// ```
/// use quillgate::Millis;
/// use quillgate_worker::jobs::webhook::queue::{DeliveryQueue, Waiting};
///
/// let mut queue = DeliveryQueue::default();
/// let waiting = ["https://a.example", "https://b.example"]
///     .map(|receiver| Waiting { receiver: receiver.to_owned(), due: Millis(0) });
/// queue.begin("https://a.example", Millis(10));
/// assert_eq!(queue.choose(&waiting, Millis(10)), Some("https://b.example"));
/// ```
#[derive(Debug, Clone, Default)]
pub struct DeliveryQueue {
    in_flight: Vec<Delivery>,
    served: Vec<Served>,
}

impl DeliveryQueue {
    /// Chooses the receiver of the next delivery, if any: a fast one, then the one that has waited
    /// longest for its turn.
    pub fn choose<'a>(&self, waiting: &'a [Waiting], now: Millis) -> Option<&'a str> {
        let due = self.eligible(waiting, now).filter(|one| one.due <= now);
        let first = due.min_by_key(|one| {
            let served_at = self.find_served(&one.receiver).map(|served| served.at);
            (self.was_slow(&one.receiver), served_at, one.due)
        });
        first.map(|one| one.receiver.as_str())
    }

    /// Returns the time of the next alarm: when a webhook that [`Self::choose`] can choose is due
    /// or a lease ends, whichever is first. The end of a delivery schedules the alarm again.
    pub fn next_due(&self, waiting: &[Waiting], now: Millis) -> Option<Millis> {
        // A delivery can outlive its lease. An alarm at the end of that lease would be in the past
        // and would fire continuously.
        let earliest = now.plus(MIN_LEASE_PAUSE);
        let leases = self.in_flight.iter();
        let lease_ends = leases.map(|delivery| delivery.leased_at.plus(LEASE).max(earliest));
        let due = self.eligible(waiting, now).map(|one| one.due);
        due.chain(lease_ends).min()
    }

    /// Starts a delivery, which first waits for a permit. Starts a lease of [`LEASE`].
    pub fn begin(&mut self, receiver: &str, now: Millis) {
        self.replace(receiver, now, None);
    }

    /// Starts the request of a delivery. Renews the lease.
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

    /// Ends the delivery to a receiver. A delivery without a request does not show whether the
    /// receiver is slow.
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

    /// Returns the receivers to which a delivery could start now.
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
