use quillgate::Operation;
use quillgate_worker::upstream::permits::{ConnectionClass, MAX_WAITING, Permits, busy_problem};

use crate::fixtures::summarize;

const CLASSES: [ConnectionClass; 4] = [
    ConnectionClass::Write,
    ConnectionClass::ReadJob,
    ConnectionClass::ReadPage,
    ConnectionClass::Webhook,
];

/// Requests a permit, which must be free. Returns the number of the request.
#[track_caller]
fn take(permits: &mut Permits, class: ConnectionClass) -> u64 {
    let number = permits.request(class).unwrap();
    assert!(permits.is_granted(number));
    number
}

/// Takes all permits of a class. Returns the numbers of the requests.
#[track_caller]
fn fill(permits: &mut Permits, class: ConnectionClass) -> Vec<u64> {
    (0..class.limit()).map(|_| take(permits, class)).collect()
}

#[track_caller]
fn queue(permits: &mut Permits, class: ConnectionClass) -> u64 {
    let number = permits.request(class).unwrap();
    assert!(!permits.is_granted(number));
    number
}

#[test]
fn one_connection_is_reserved_for_writes() {
    let mut permits = Permits::default();
    fill(&mut permits, ConnectionClass::ReadJob);
    fill(&mut permits, ConnectionClass::Webhook);
    queue(&mut permits, ConnectionClass::ReadJob);
    queue(&mut permits, ConnectionClass::Webhook);
    take(&mut permits, ConnectionClass::Write);
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
    let held = fill(&mut permits, ConnectionClass::Webhook);
    let webhook = queue(&mut permits, ConnectionClass::Webhook);
    let writes: Vec<_> = (0..4)
        .map(|_| take(&mut permits, ConnectionClass::Write))
        .collect();
    let read = queue(&mut permits, ConnectionClass::ReadJob);
    let write = queue(&mut permits, ConnectionClass::Write);
    let expected = Some(read);
    assert_eq!(permits.release(writes[0]), expected, "the webhook may not");
    assert_eq!(permits.release(read), Some(write));
    assert_eq!(permits.release(held[0]), Some(webhook));
    assert_eq!(permits.release(held[1]), None);
    assert!(permits.is_granted(webhook) && permits.is_granted(write));
}

#[test]
fn request_that_stops_waiting_leaves_the_queue() {
    let mut permits = Permits::default();
    let held = fill(&mut permits, ConnectionClass::Webhook);
    let first = queue(&mut permits, ConnectionClass::Webhook);
    let second = queue(&mut permits, ConnectionClass::Webhook);
    assert_eq!(permits.release(first), None);
    assert_eq!(permits.release(held[0]), Some(second));
    assert_eq!(permits.release(held[1]), None);
}

#[test]
fn request_that_stops_waiting_after_its_grant_releases_the_permit() {
    let mut permits = Permits::default();
    let held = fill(&mut permits, ConnectionClass::Webhook);
    let first = queue(&mut permits, ConnectionClass::Webhook);
    let second = queue(&mut permits, ConnectionClass::Webhook);
    assert_eq!(permits.release(held[0]), Some(first));
    assert_eq!(permits.release(first), Some(second));
    assert!(permits.is_granted(second));
}

#[test]
fn rejected_request_may_be_repeated_soon() {
    let problem = busy_problem();
    assert_eq!(summarize(&problem), "503 gateway-busy");
    assert!(problem.headers.contains(&("retry-after", "5".to_owned())));
    assert!(problem.members.is_empty(), "the outcome is not unknown");
}

#[test]
fn queue_of_each_class_is_bounded() {
    let mut permits = Permits::default();
    fill(&mut permits, ConnectionClass::Webhook);
    for _ in 0..MAX_WAITING {
        queue(&mut permits, ConnectionClass::Webhook);
    }
    let refused = permits.request(ConnectionClass::Webhook);
    assert_eq!(refused, Err(busy_problem()));
    take(&mut permits, ConnectionClass::Write);
}

#[test]
fn each_write_and_each_read_of_a_job_has_its_class() {
    for operation in Operation::ALL.iter().copied() {
        let expected = match operation {
            Operation::CreateAgentJob
            | Operation::SendMessage
            | Operation::CreateDeployment
            | Operation::CreatePreview
            | Operation::RunAutomation
            | Operation::BeginBackfill => ConnectionClass::Write,
            Operation::GetAgentJob | Operation::GetDeployment => ConnectionClass::ReadJob,
            _ => ConnectionClass::ReadPage,
        };
        assert_eq!(ConnectionClass::of(operation), expected, "{operation:?}");
    }
}
