//! The order of webhook deliveries. A receiver that hangs delays no other receiver.

use quillgate::Millis;
use quillgate_worker::jobs::webhook::queue::{DeliveryQueue, LEASE, Waiting};

const TIMEOUT: Millis = Millis::from_seconds(20);

fn waiting(receiver: &str, due: u64) -> Waiting {
    Waiting {
        receiver: receiver.to_owned(),
        due: Millis(due),
    }
}

/// Simulates deliveries until each healthy webhook is delivered.
fn deliver(hanging: &[usize], healthy: &[usize], healthy_due: Millis) -> Millis {
    let mut queue = DeliveryQueue::default();
    let receivers = [
        (hanging, "hanging", Millis(0)),
        (healthy, "healthy", healthy_due),
    ];
    let mut left: Vec<(Waiting, usize)> = receivers
        .into_iter()
        .flat_map(|(counts, name, due)| {
            counts.iter().enumerate().map(move |(number, count)| {
                let receiver = format!("https://{name}-{number}.example");
                (Waiting { receiver, due }, *count)
            })
        })
        .collect();
    let mut ends: Vec<(Millis, String)> = Vec::new();
    let mut now = Millis(0);
    loop {
        let rest = |left: &[(Waiting, usize)]| -> Vec<Waiting> {
            let rest = left.iter().filter(|(_, count)| *count > 0);
            rest.map(|(waiting, _)| waiting.clone()).collect()
        };
        let waiting = rest(&left);
        let waiting_receivers = waiting.iter().map(|waiting| &waiting.receiver);
        let mut receivers = waiting_receivers.chain(ends.iter().map(|(_, receiver)| receiver));
        if !receivers.any(|receiver| receiver.contains("healthy")) {
            return now;
        }
        while let Some(receiver) = queue.choose(&waiting, now) {
            let is_busy = ends.iter().any(|(_, busy)| busy == receiver);
            assert!(!is_busy, "{receiver}");
            queue.begin(receiver, now);
            queue.begin_request(receiver, now);
            let is_hanging = receiver.contains("hanging");
            let time = if is_hanging { TIMEOUT } else { Millis(50) };
            ends.push((now.plus(time), receiver.to_owned()));
            let mut left = left.iter_mut();
            let chosen = left.find(|(waiting, _)| waiting.receiver == receiver);
            chosen.unwrap().1 -= 1;
        }
        assert!(ends.len() <= 2);
        let alarm = queue.next_due(&rest(&left), now).filter(|at| *at > now);
        let end = ends.iter().map(|(at, _)| *at).min();
        now = alarm.into_iter().chain(end).min().unwrap();
        for (_, receiver) in ends.extract_if(.., |(at, _)| *at <= now) {
            queue.finish(&receiver, now);
        }
    }
}

#[test]
fn hanging_receiver_delays_no_other() {
    assert_eq!(deliver(&[10], &[1], Millis(0)), Millis(50));
    assert_eq!(deliver(&[10], &[3, 3], Millis(0)), Millis(300));
    assert_eq!(deliver(&[100], &[1], Millis(90_000)), Millis(90_050));
}

#[test]
fn receivers_that_hang_again_share_one_connection() {
    // Both connections are in use until the first timeouts.
    assert_eq!(deliver(&[10, 10, 10], &[1], Millis(0)), Millis(20_050));
    assert_eq!(deliver(&[10, 10], &[5], Millis(30_000)), Millis(30_250));
}

#[test]
fn slow_receivers_take_turns() {
    let mut queue = DeliveryQueue::default();
    let waiting = ["a", "b"].map(|receiver| waiting(receiver, 0));
    let mut order = String::new();
    let mut now = Millis(0);
    for _ in 0..6 {
        let mut chosen = Vec::new();
        while let Some(receiver) = queue.choose(&waiting, now) {
            queue.begin(receiver, now);
            queue.begin_request(receiver, now);
            order.push_str(receiver);
            chosen.push(receiver);
        }
        now = now.plus(TIMEOUT);
        for receiver in chosen {
            queue.finish(receiver, now);
        }
    }
    assert_eq!(order, "abababa");
}

#[test]
fn alarm_waits_for_what_it_can_deliver() {
    let mut queue = DeliveryQueue::default();
    let waiting = ["a", "b", "c"].map(|receiver| waiting(receiver, 7));
    assert_eq!(queue.next_due(&waiting, Millis(0)), Some(Millis(7)));
    queue.begin("a", Millis(10));
    let lease_end = Millis(10).plus(LEASE);
    assert_eq!(queue.next_due(&waiting, Millis(10)), Some(Millis(7)));
    assert_eq!(queue.next_due(&waiting[..1], Millis(10)), Some(lease_end));
    queue.begin("b", Millis(10));
    assert_eq!(queue.next_due(&waiting, Millis(10)), Some(lease_end));
    // An alarm in the past would fire continuously.
    let late = lease_end.plus(Millis(5));
    let expected = Some(late.plus(Millis(1_000)));
    assert_eq!(queue.next_due(&waiting, late), expected);
    queue.finish("b", Millis(20));
    assert_eq!(queue.next_due(&waiting, Millis(20)), Some(Millis(7)));
}

#[test]
fn wait_for_a_permit_does_not_make_a_receiver_slow() {
    let mut queue = DeliveryQueue::default();
    let waiting = ["a", "b"].map(|receiver| waiting(receiver, 0));
    // `a` gets no permit, then `b` is slow. Only `a` may start next to another slow receiver.
    queue.begin("a", Millis(0));
    let mut now = TIMEOUT;
    queue.finish("a", now);
    queue.begin_request("b", now);
    now = now.plus(TIMEOUT);
    queue.finish("b", now);
    queue.begin("slow", now);
    queue.begin_request("slow", now);
    now = now.plus(TIMEOUT);
    assert_eq!(queue.choose(&waiting, now), Some("a"));
    assert_eq!(queue.choose(&waiting[1..], now), None);
    // A slow receiver without a permit stays slow.
    queue.finish("slow", now);
    queue.begin("b", now);
    queue.finish("b", now);
    queue.begin("slow", now);
    assert_eq!(queue.choose(&waiting[1..], now), None);
}
