//! The order of webhook deliveries. A receiver gets one webhook at a time, so a slow receiver
//! delays only its own webhooks.

use std::collections::HashMap;

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

#[derive(Debug, Clone, Default)]
struct Receiver {
    /// `None` without a delivery in flight.
    leased_at: Option<Millis>,
    /// `None` while the delivery waits for a permit.
    sent_at: Option<Millis>,
    /// When the latest delivery ended.
    served_at: Option<Millis>,
    was_slow: bool,
}

impl Receiver {
    fn is_slow(&self, now: Millis) -> bool {
        let is_late = |sent_at| now.since(sent_at) >= SLOW_AFTER;
        self.was_slow || self.sent_at.is_some_and(is_late)
    }
}

/// By origin.
#[derive(Debug, Clone, Default)]
pub struct DeliveryQueue(HashMap<String, Receiver>);

impl DeliveryQueue {
    /// A fast receiver, then the one that has waited longest for its turn.
    pub fn choose<'a>(&self, waiting: &'a [Waiting], now: Millis) -> Option<&'a str> {
        let due = self.eligible(waiting, now).filter(|one| one.due <= now);
        let first = due.min_by_key(|one| {
            let known = self.0.get(&one.receiver);
            let was_slow = known.is_some_and(|known| known.was_slow);
            (was_slow, known.and_then(|known| known.served_at), one.due)
        });
        first.map(|one| one.receiver.as_str())
    }

    /// When a webhook that [`Self::choose`] can choose is due or a lease ends. The end of a
    /// delivery schedules the alarm again.
    pub fn next_due(&self, waiting: &[Waiting], now: Millis) -> Option<Millis> {
        // A delivery can outlive its lease. An alarm at the end of that lease would be in the past
        // and would fire continuously.
        let earliest = now.plus(MIN_LEASE_PAUSE);
        let leases = self.0.values().filter_map(|known| known.leased_at);
        let lease_ends = leases.map(|leased_at| leased_at.plus(LEASE).max(earliest));
        let due = self.eligible(waiting, now).map(|one| one.due);
        due.chain(lease_ends).min()
    }

    /// The delivery first waits for a permit.
    pub fn begin(&mut self, receiver: &str, now: Millis) {
        self.0.entry(receiver.to_owned()).or_default().leased_at = Some(now);
    }

    /// Renews the lease.
    pub fn begin_request(&mut self, receiver: &str, now: Millis) {
        let known = self.0.entry(receiver.to_owned()).or_default();
        (known.leased_at, known.sent_at) = (Some(now), Some(now));
    }

    /// A delivery without a request does not show whether the receiver is slow.
    pub fn finish(&mut self, receiver: &str, now: Millis) {
        let Some(known) = self.0.get_mut(receiver) else {
            return;
        };
        if known.leased_at.take().is_none() {
            return;
        }
        if let Some(sent_at) = known.sent_at.take() {
            known.was_slow = now.since(sent_at) >= SLOW_AFTER;
        }
        known.served_at = Some(now);
    }

    fn eligible<'a>(
        &self,
        waiting: &'a [Waiting],
        now: Millis,
    ) -> impl Iterator<Item = &'a Waiting> {
        let in_flight = || self.0.values().filter(|known| known.leased_at.is_some());
        let has_room = in_flight().count() < MAX_IN_FLIGHT;
        let is_slow_in_flight = in_flight().any(|known| known.is_slow(now));
        waiting.iter().filter(move |one| {
            let known = self.0.get(&one.receiver);
            let can_begin = known.is_none_or(|known| {
                known.leased_at.is_none() && !(is_slow_in_flight && known.was_slow)
            });
            has_room && can_begin
        })
    }
}
