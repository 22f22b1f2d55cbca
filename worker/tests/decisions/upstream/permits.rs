//! The permits for a Durable Object's connections, and the requests that wait for one.

use proptest::prelude::*;
use quillgate_worker::upstream::permits::{
    Admission, ConnectionClass, MAX_CONNECTIONS, MAX_WAITING, Permits,
};

use crate::fixtures::status_and_kind;

const CLASSES: [ConnectionClass; 4] = [
    ConnectionClass::Write,
    ConnectionClass::ReadJob,
    ConnectionClass::ReadPage,
    ConnectionClass::Webhook,
];

/// Takes all permits of a class.
fn fill(permits: &mut Permits, class: ConnectionClass) {
    for _ in 0..class.limit() {
        assert_eq!(permits.ask(class), Admission::Granted);
    }
}

#[track_caller]
fn queue(permits: &mut Permits, class: ConnectionClass) -> u64 {
    match permits.ask(class) {
        Admission::Queued(number) => number,
        other => panic!("{other:?}"),
    }
}

#[test]
fn one_connection_is_reserved_for_writes() {
    let mut permits = Permits::default();
    fill(&mut permits, ConnectionClass::ReadJob);
    fill(&mut permits, ConnectionClass::Webhook);
    queue(&mut permits, ConnectionClass::ReadJob);
    queue(&mut permits, ConnectionClass::Webhook);
    assert_eq!(permits.ask(ConnectionClass::Write), Admission::Granted);
    queue(&mut permits, ConnectionClass::Write);
}

#[test]
fn at_most_six_requests_are_in_progress() {
    let mut permits = Permits::default();
    fill(&mut permits, ConnectionClass::Write);
    for class in CLASSES {
        queue(&mut permits, class);
    }
}

#[test]
fn released_permit_goes_to_the_first_eligible_request() {
    let mut permits = Permits::default();
    fill(&mut permits, ConnectionClass::Webhook);
    let webhook = queue(&mut permits, ConnectionClass::Webhook);
    for _ in 0..4 {
        assert_eq!(permits.ask(ConnectionClass::Write), Admission::Granted);
    }
    let read = queue(&mut permits, ConnectionClass::ReadJob);
    let write = queue(&mut permits, ConnectionClass::Write);
    assert_eq!(
        permits.release(ConnectionClass::Write),
        Some(read),
        "the webhook may not"
    );
    assert_eq!(permits.release(ConnectionClass::ReadJob), Some(write));
    assert_eq!(permits.release(ConnectionClass::Webhook), Some(webhook));
    assert_eq!(permits.release(ConnectionClass::Webhook), None);
}

#[test]
fn timed_out_request_is_rejected_unless_just_granted() {
    let mut permits = Permits::default();
    fill(&mut permits, ConnectionClass::Webhook);
    let first = queue(&mut permits, ConnectionClass::Webhook);
    let second = queue(&mut permits, ConnectionClass::Webhook);
    let problem = permits.stop_waiting(first).unwrap_err();
    assert_eq!(status_and_kind(&problem), (503, "gateway-busy"));
    assert!(problem.headers.contains(&("retry-after", "5".to_owned())));
    assert!(problem.members.is_empty(), "the outcome is not unknown");
    assert_eq!(permits.release(ConnectionClass::Webhook), Some(second));
    assert_eq!(permits.stop_waiting(second), Ok(()));
    assert_eq!(permits.release(ConnectionClass::Webhook), None);
}

#[test]
fn queue_of_each_class_is_bounded() {
    let mut permits = Permits::default();
    fill(&mut permits, ConnectionClass::Webhook);
    for _ in 0..MAX_WAITING {
        queue(&mut permits, ConnectionClass::Webhook);
    }
    let Admission::Refused(problem) = permits.ask(ConnectionClass::Webhook) else {
        panic!("the queue is full")
    };
    assert_eq!(status_and_kind(&problem), (503, "gateway-busy"));
    assert_eq!(permits.ask(ConnectionClass::Write), Admission::Granted);
}

proptest! {
    #[test]
    fn permits_are_never_lost_or_created(steps in prop::collection::vec((0..4_usize, 0..3_u8), 0..400)) {
        let mut permits = Permits::default();
        let mut held: Vec<ConnectionClass> = Vec::new();
        let mut waiting: Vec<(u64, ConnectionClass)> = Vec::new();
        for (at, step) in steps {
            let class = CLASSES[at];
            match step {
                0 => match permits.ask(class) {
                    Admission::Granted => held.push(class),
                    Admission::Queued(number) => waiting.push((number, class)),
                    Admission::Refused(_) => prop_assert!(false, "the queue is not full"),
                },
                1 => if let Some(at) = held.iter().position(|own| *own == class) {
                    held.swap_remove(at);
                    if let Some(number) = permits.release(class) {
                        let at = waiting.iter().position(|(own, _)| *own == number).unwrap();
                        held.push(waiting.remove(at).1);
                    }
                },
                _ => if let Some((number, _)) = waiting.pop() {
                    prop_assert!(permits.stop_waiting(number).is_err());
                },
            }
            prop_assert!(held.len() <= MAX_CONNECTIONS);
            for class in CLASSES {
                prop_assert!(held.iter().filter(|own| **own == class).count() <= class.limit());
            }
            // No waiting request is eligible for a free permit.
            for (_, class) in &waiting {
                let own = held.iter().filter(|own| *own == class).count();
                prop_assert!(held.len() == MAX_CONNECTIONS || own == class.limit());
            }
        }
    }
}
