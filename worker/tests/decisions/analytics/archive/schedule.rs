use quillgate::Millis;
use quillgate_worker::analytics::analytics_settings::ArchiveSettings;
use quillgate_worker::analytics::archive::schedule::{
    DayRecord, Part, ProjectRecord, Target, is_settled, plan,
};

use super::day;

const HOUR: Millis = Millis::from_seconds(3600);

fn held(text: &str, fetched_on: &str) -> DayRecord {
    DayRecord {
        fetched: Some(day(fetched_on).begin()),
        pages: 2,
        ..DayRecord::new(day(text))
    }
}

fn project(first: &str, records: &[DayRecord]) -> ProjectRecord {
    ProjectRecord {
        first: day(first),
        days: records.to_vec(),
    }
}

/// Returns the next request, if any, of an archive with a single project.
fn plan_at(today: &str, first: &str, records: &[DayRecord]) -> Option<Target> {
    let now = day(today).begin().plus(Millis::from_seconds(43_200));
    plan([&project(first, records)], 3, now)
}

fn target(text: &str, part: Part) -> Target {
    Target {
        project: 0,
        day: day(text),
        part,
    }
}

#[test]
fn a_complete_day_with_a_failure_is_fetched_again() {
    let mut record = held("2024-03-01", "2024-03-02");
    let plan =
        |record: &DayRecord| plan_at("2024-03-02", "2024-03-01", std::slice::from_ref(record));
    assert_eq!(plan(&record), None);
    record.record_failure(HOUR, day("2024-03-02").begin());
    assert_eq!(plan(&record), Some(target("2024-03-01", Part::Visitors)));
    record.record_part(false, day("2024-03-02").begin());
    assert_eq!(plan(&record), Some(target("2024-03-01", Part::Views(0))));
}

#[test]
fn a_day_seems_endless_at_its_fifth_empty_page_in_a_row() {
    let mut record = DayRecord::new(day("2024-03-01"));
    let pages = [true, true, true, true, false, true, true, true, true, true];
    let endless = pages.map(|is_empty| {
        let count = record.count_empty_pages(is_empty);
        record.empty_pages = count.unwrap_or(4);
        record.record_part(false, Millis(0));
        count.is_none()
    });
    assert_eq!(endless.iter().position(|is| *is), Some(9));
    // A restart also resets the count of empty pages.
    record.restart();
    assert_eq!(record.count_empty_pages(true), Some(1));
}

#[test]
fn the_oldest_gap_is_fetched_first_beginning_with_visitors() {
    let records = ["2024-03-01", "2024-03-03"].map(|date| held(date, "2024-03-09"));
    let planned = plan_at("2024-03-10", "2024-03-01", &records);
    assert_eq!(planned, Some(target("2024-03-02", Part::Visitors)));
}

#[test]
fn a_partly_fetched_day_resumes_at_its_next_part() {
    let mut record = DayRecord::new(day("2024-03-01"));
    record.record_part(false, Millis(0));
    record.record_part(false, Millis(0));
    let planned = plan_at("2024-03-02", "2024-03-01", &[record.clone()]);
    assert_eq!(planned, Some(target("2024-03-01", Part::Views(1))));
    record.restart();
    let planned = plan_at("2024-03-02", "2024-03-01", &[record]);
    assert_eq!(planned, Some(target("2024-03-01", Part::Visitors)));
}

#[test]
fn today_and_days_before_the_first_day_are_not_fetched() {
    let earlier = DayRecord::new(day("2024-02-01"));
    assert_eq!(plan_at("2024-03-01", "2024-03-01", &[earlier]), None);
}

#[test]
fn a_fetched_day_is_rechecked_once_a_day_until_it_settles() {
    for (fetched_on, today, is_due) in [
        ("2024-03-02", "2024-03-02", false),
        ("2024-03-02", "2024-03-03", true),
        ("2024-03-03", "2024-03-03", false),
        ("2024-03-04", "2024-03-05", true),
        ("2024-03-05", "2024-03-06", false),
        // A missed recheck takes place later.
        ("2024-03-02", "2024-04-01", true),
        ("2024-04-01", "2024-04-02", false),
    ] {
        let day_before = day(today).minus(1).to_text();
        let mut records = vec![held("2024-03-01", fetched_on)];
        let mut at = day("2024-03-02");
        while at <= day(&day_before) {
            // All other days are settled, so they are never due.
            records.push(held(&at.to_text(), "2025-01-01"));
            at = at.next();
        }
        let planned = plan_at(today, "2024-03-01", &records);
        let expected = is_due.then(|| target("2024-03-01", Part::Visitors));
        assert_eq!(planned, expected, "fetched on {fetched_on}, today {today}");
        let fetched = day(fetched_on).begin();
        let is_settled = is_settled(day("2024-03-01"), fetched, 3);
        assert_eq!(is_settled, day(fetched_on) >= day("2024-03-05"));
    }
}

#[test]
fn gaps_are_fetched_before_rechecks() {
    let records = [held("2024-03-01", "2024-03-02")];
    let planned = plan_at("2024-03-03", "2024-03-01", &records);
    assert_eq!(planned, Some(target("2024-03-02", Part::Visitors)));
}

#[test]
fn a_failed_day_backs_off_while_other_days_continue() {
    let now = day("2024-03-03").begin();
    let mut record = DayRecord::new(day("2024-03-01"));
    let mut waits = Vec::new();
    for _ in 0..14 {
        record.record_failure(Millis(10), now);
        waits.push(record.retry_at.since(now).0);
    }
    assert_eq!(waits[..4], [10, 20, 40, 80]);
    assert_eq!(waits[10..], [10 << 10; 4]);

    let retry_at = record.retry_at;
    let mut project = project("2024-03-01", &[record]);
    let expected = Some(target("2024-03-02", Part::Visitors));
    assert_eq!(plan([&project], 3, now), expected);
    project.days.push(held("2024-03-02", "2024-03-03"));
    assert_eq!(plan([&project], 3, now), None);
    let planned = plan([&project], 3, retry_at);
    assert_eq!(planned, Some(target("2024-03-01", Part::Visitors)));
}

#[test]
fn day_that_fails_again_after_a_restart_backs_off_further() {
    let now = day("2024-03-03").begin();
    let mut record = DayRecord::new(day("2024-03-01"));
    for wait in [10, 20, 40] {
        record.record_part(false, now);
        record.record_part(false, now);
        assert_eq!(record.failures(), 0, "progress has the rank of other days");
        record.restart();
        record.record_failure(Millis(10), now);
        assert_eq!(record.retry_at.since(now), Millis(wait));
    }
    record.record_part(false, now);
    for _ in 0..2 {
        record.record_failure(Millis(10), now);
        record.record_part(false, now);
        assert_eq!(record.attempts, 0, "the part that failed has succeeded");
    }
    record.record_part(true, now);
    assert_eq!(record.attempts, 0);
}

#[test]
fn failing_days_of_a_project_do_not_delay_other_projects() {
    let now = day("2024-03-04").begin();
    let failing = |date: &str, failures: u32| {
        let mut record = DayRecord::new(day(date));
        (0..failures).for_each(|_| record.record_failure(Millis(0), now));
        record
    };
    let days = [("2024-03-01", 2), ("2024-03-02", 3), ("2024-03-03", 2)];
    let first = project(
        "2024-03-01",
        &days.map(|(date, count)| failing(date, count)),
    );
    for (record, expected) in [
        (DayRecord::new(day("2024-03-03")), (1, day("2024-03-03"))),
        (held("2024-03-03", "2024-03-03"), (1, day("2024-03-03"))),
        (failing("2024-03-03", 1), (1, day("2024-03-03"))),
        (failing("2024-03-03", 2), (0, day("2024-03-01"))),
    ] {
        let second = project("2024-03-03", &[record]);
        let planned = plan([&first, &second], 3, now).unwrap();
        assert_eq!((planned.project, planned.day), expected);
    }
}

/// Returns the requests and hours that are estimated for `gaps` missing days.
fn estimate(gaps: u32, pages: u64) -> (u64, Option<u64>) {
    let settings = ArchiveSettings {
        projects: Vec::new(),
        limit: 33,
        window: HOUR,
        retention_days: 730,
        recheck_days: 3,
    };
    let mut stored = held("2024-03-01", "2024-03-02");
    stored.pages = pages;
    let project = project("2024-03-01", &[stored]);
    let today = day("2024-03-02").plus(gaps);
    let (missing, estimate) = project.estimate(&settings, today.begin());
    assert_eq!(missing, gaps);
    (estimate.requests, estimate.hours)
}

#[test]
fn an_estimate_counts_the_visitor_and_view_requests_of_each_day() {
    // 33 requests per hour are 792 per day. Fetching yesterday and rechecking 3 days, at 101
    // requests each, leaves 388 of them for missing days.
    assert_eq!(estimate(10, 100), (1010, Some(63)));
    assert_eq!(estimate(0, 1000), (0, Some(0)));
    // Yesterday and 3 rechecks, at 201 requests each, already exceed the 792 requests of a day.
    assert_eq!(estimate(1, 200).1, None);
}
