//! Permits for the connections of a Durable Object.

use proptest::prelude::*;
use quillgate_worker::upstream::permits::{Admission, Lane, MAX_CONNECTIONS, MAX_WAITING, Permits};

use crate::fixtures::status_and_kind;

const LANES: [Lane; 4] = [Lane::Write, Lane::ReadJob, Lane::ReadPage, Lane::Webhook];

/// Takes all permits of a lane.
fn fill(permits: &mut Permits, lane: Lane) {
    for _ in 0..lane.most() {
        assert_eq!(permits.ask(lane), Admission::Granted);
    }
}

#[track_caller]
fn queue(permits: &mut Permits, lane: Lane) -> u64 {
    match permits.ask(lane) {
        Admission::Queued(number) => number,
        other => panic!("{other:?}"),
    }
}

#[test]
fn one_connection_is_reserved_for_writes() {
    let mut permits = Permits::default();
    fill(&mut permits, Lane::ReadJob);
    fill(&mut permits, Lane::Webhook);
    queue(&mut permits, Lane::ReadJob);
    queue(&mut permits, Lane::Webhook);
    assert_eq!(permits.ask(Lane::Write), Admission::Granted);
    queue(&mut permits, Lane::Write);
}

#[test]
fn at_most_six_requests_are_in_progress() {
    let mut permits = Permits::default();
    fill(&mut permits, Lane::Write);
    for lane in LANES {
        queue(&mut permits, lane);
    }
}

#[test]
fn released_permit_goes_to_the_first_eligible_request() {
    let mut permits = Permits::default();
    fill(&mut permits, Lane::Webhook);
    let webhook = queue(&mut permits, Lane::Webhook);
    for _ in 0..4 {
        assert_eq!(permits.ask(Lane::Write), Admission::Granted);
    }
    let read = queue(&mut permits, Lane::ReadJob);
    let write = queue(&mut permits, Lane::Write);
    assert_eq!(
        permits.release(Lane::Write),
        Some(read),
        "the webhook may not"
    );
    assert_eq!(permits.release(Lane::ReadJob), Some(write));
    assert_eq!(permits.release(Lane::Webhook), Some(webhook));
    assert_eq!(permits.release(Lane::Webhook), None);
}

#[test]
fn timed_out_request_is_rejected_unless_just_granted() {
    let mut permits = Permits::default();
    fill(&mut permits, Lane::Webhook);
    let first = queue(&mut permits, Lane::Webhook);
    let second = queue(&mut permits, Lane::Webhook);
    let problem = permits.stop_waiting(first).unwrap_err();
    assert_eq!(status_and_kind(&problem), (503, "gateway-busy"));
    assert!(problem.headers.contains(&("retry-after", "5".to_owned())));
    assert!(problem.members.is_empty(), "the outcome is not unknown");
    assert_eq!(permits.release(Lane::Webhook), Some(second));
    assert_eq!(permits.stop_waiting(second), Ok(()));
    assert_eq!(permits.release(Lane::Webhook), None);
}

#[test]
fn queue_of_each_lane_is_bounded() {
    let mut permits = Permits::default();
    fill(&mut permits, Lane::Webhook);
    for _ in 0..MAX_WAITING {
        queue(&mut permits, Lane::Webhook);
    }
    let Admission::Refused(problem) = permits.ask(Lane::Webhook) else {
        panic!("the queue is full")
    };
    assert_eq!(status_and_kind(&problem), (503, "gateway-busy"));
    assert_eq!(permits.ask(Lane::Write), Admission::Granted);
}

proptest! {
    #[test]
    fn permits_are_never_lost_or_created(steps in prop::collection::vec((0..4_usize, 0..3_u8), 0..400)) {
        let mut permits = Permits::default();
        let mut held: Vec<Lane> = Vec::new();
        let mut waiting: Vec<(u64, Lane)> = Vec::new();
        for (at, step) in steps {
            let lane = LANES[at];
            match step {
                0 => match permits.ask(lane) {
                    Admission::Granted => held.push(lane),
                    Admission::Queued(number) => waiting.push((number, lane)),
                    Admission::Refused(_) => prop_assert!(false, "the queue is not full"),
                },
                1 => if let Some(at) = held.iter().position(|own| *own == lane) {
                    held.swap_remove(at);
                    if let Some(number) = permits.release(lane) {
                        let at = waiting.iter().position(|(own, _)| *own == number).unwrap();
                        held.push(waiting.remove(at).1);
                    }
                },
                _ => if let Some((number, _)) = waiting.pop() {
                    prop_assert!(permits.stop_waiting(number).is_err());
                },
            }
            prop_assert!(held.len() <= MAX_CONNECTIONS);
            for lane in LANES {
                prop_assert!(held.iter().filter(|own| **own == lane).count() <= lane.most());
            }
            // No waiting request is eligible for a free permit.
            for (_, lane) in &waiting {
                let own = held.iter().filter(|own| *own == lane).count();
                prop_assert!(held.len() == MAX_CONNECTIONS || own == lane.most());
            }
        }
    }
}
