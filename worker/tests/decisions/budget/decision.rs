use quillgate::Millis;
use quillgate_worker::budget::upstream_block::UpstreamBlock;
use quillgate_worker::budget::{BudgetSnapshot, Granted, decide};
use serde_json::json;

use super::{HOUR, MINUTE, retry_after, snapshot, usage};
use crate::fixtures::{NOW, header, summarize, to_json};

#[track_caller]
fn assert_fields(granted: &Granted, policy: &str, limit: &str) {
    let fields: Vec<_> = granted.fields.iter().collect();
    assert_eq!(fields, [("ratelimit-policy", policy), ("ratelimit", limit)]);
}

#[test]
fn header_fields_report_the_remainder_after_a_grant() {
    for (count, age, left, limit) in [
        (0, 0, 99, "\"create-job\";r=99;t=3600"),
        (1, 0, 98, "\"create-job\";r=98;t=3600"),
        (58, HOUR / 2, 41, "\"create-job\";r=41;t=1800"),
        (99, 2, 0, "\"create-job\";r=0;t=3600"),
        (1, HOUR - 1, 98, "\"create-job\";r=98;t=1"),
        (1, HOUR - 1001, 98, "\"create-job\";r=98;t=2"),
    ] {
        let mut snapshot = snapshot();
        snapshot.limit = usage(100, count, age);
        let granted = decide(&snapshot).unwrap();
        assert_eq!(granted.left, left, "{count:?}");
        assert_fields(&granted, "\"create-job\";q=100;w=3600", limit);
    }
}

#[test]
fn token_quota_is_reported_besides_the_limit() {
    let snapshot = BudgetSnapshot {
        quota: Some(usage(10, 2, MINUTE)),
        limit: usage(100, 52, 3 * MINUTE),
        ..snapshot()
    };
    let policy = "\"create-job\";q=100;w=3600, \"create-job-caller\";q=10;w=3600";
    let limit = "\"create-job\";r=47;t=3420, \"create-job-caller\";r=7;t=3540";
    assert_fields(&decide(&snapshot).unwrap(), policy, limit);
}

#[test]
fn ceiling_with_the_smallest_remainder_is_reported() {
    let snapshot = BudgetSnapshot {
        quota: Some(usage(10, 2, MINUTE)),
        ceilings: vec![
            usage(50, 20, 2 * MINUTE),
            usage(8, 3, MINUTE),
            usage(9, 0, 0),
        ],
        limit: usage(100, 52, 3 * MINUTE),
        ..snapshot()
    };
    let policy = "\"create-job\";q=100;w=3600, \"create-job-caller\";q=10;w=3600, \"create-job-rule\";q=8;w=3600";
    let limit = "\"create-job\";r=47;t=3420, \"create-job-caller\";r=7;t=3540, \"create-job-rule\";r=4;t=3540";
    assert_fields(&decide(&snapshot).unwrap(), policy, limit);
}

#[test]
fn ceiling_is_exact_and_the_later_of_two_sets_retry_after() {
    let limit = usage(100, 3, 20 * MINUTE);
    for (count, is_granted) in [(0, true), (2, true), (3, false), (4, false)] {
        let snapshot = BudgetSnapshot {
            ceilings: vec![usage(3, count, 20 * MINUTE)],
            limit,
            ..snapshot()
        };
        assert_eq!(decide(&snapshot).is_ok(), is_granted, "{count}");
    }
    // If two ceilings are exhausted, the caller waits until both allow another request.
    let snapshot = BudgetSnapshot {
        ceilings: vec![usage(3, 3, 20 * MINUTE), usage(2, 2, 10 * MINUTE)],
        limit,
        ..snapshot()
    };
    let refused = decide(&snapshot).unwrap_err();
    let json = to_json(&refused);
    let expected = "create-job: the ceiling of 2 in any 3600 seconds for all callers of the access token's rule is used up";
    assert_eq!(json["detail"], expected);
    assert_eq!(json["violated-policies"], json!(["create-job-rule"]));
    assert_eq!(retry_after(&refused), 3000);
    let expected = "\"create-job\";r=97, \"create-job-rule\";r=0;t=3000";
    assert_eq!(header(&refused.headers, "ratelimit"), Some(expected));
}

#[test]
fn quota_is_capped_by_the_limit() {
    let mut snapshot = snapshot();
    snapshot.quota = Some(usage(1000, 0, 0));
    let policy = "\"create-job\";q=100;w=3600, \"create-job-caller\";q=100;w=3600";
    let fields = decide(&snapshot).unwrap().fields;
    assert_eq!(fields.get("ratelimit-policy"), Some(policy));
}

#[test]
fn rejection_names_the_last_rule_to_end_and_each_remainder() {
    const LIMIT: &str = "the limit of 100 in any 3600 seconds is used up";
    const QUOTA: &str = "the access token's own quota of 30 in any 3600 seconds is used up";
    const NO_QUOTA: &str = "the access token's own quota of 0 in any 3600 seconds is used up";
    const UPSTREAM: &str = "Mintlify itself answered that its limit is reached";
    let (free, half) = (usage(100, 0, 0), usage(100, 50, 20 * MINUTE));
    let full = usage(100, 100, 20 * MINUTE);
    let quota = |max, count, age| Some(usage(max, count, age * MINUTE));
    let (some_left, no_quota) = (quota(40, 30, 10), quota(0, 0, 0));
    let (early, late) = (quota(30, 30, 30), quota(30, 30, 10));
    // The last value has the remainder of the limit, and that of the quota.
    for (limit, quota, blocked_for, detail, wait, left) in [
        (full, None, None, LIMIT, 2400, "0;t=2400"),
        (full, some_left, None, LIMIT, 2400, "0;t=2400 10"),
        (full, early, None, LIMIT, 2400, "0;t=2400 0;t=1800"),
        (full, late, None, QUOTA, 3000, "0;t=2400 0;t=3000"),
        (half, late, None, QUOTA, 3000, "50 0;t=3000"),
        (free, no_quota, None, NO_QUOTA, 3600, "100 0;t=3600"),
        (free, None, Some(60_001), UPSTREAM, 61, "0;t=61"),
        (full, None, Some(1), LIMIT, 2400, "0;t=2400"),
        (full, None, Some(3 * HOUR), UPSTREAM, 10_800, "0;t=10800"),
    ] {
        let names = ["create-job", "create-job-caller"];
        let left: Vec<_> = names.into_iter().zip(left.split(' ')).collect();
        let field = |(name, left): &(&str, &str)| format!("\"{name}\";r={left}");
        let fields = left.iter().map(field).collect::<Vec<_>>().join(", ");
        let violated = left.iter().filter(|(_, left)| left.starts_with("0;"));
        let violated: Vec<_> = violated.map(|(name, _)| *name).collect();
        let blocked_until = blocked_for.map(|time| NOW.0 + time);
        let snapshot = BudgetSnapshot {
            limit,
            quota,
            blocked_until,
            ..snapshot()
        };
        let refused = decide(&snapshot).unwrap_err();
        assert_eq!(summarize(&refused), "429 quota-exceeded", "{fields}");
        let detail = format!("create-job: {detail}");
        assert_eq!(refused.detail, detail, "{fields}");
        assert_eq!(retry_after(&refused), wait, "{fields}");
        assert_eq!(header(&refused.headers, "ratelimit"), Some(&*fields));
        let names = &refused.members["violated-policies"];
        assert_eq!(*names, json!(violated), "{fields}");
    }
}

#[test]
fn slot_of_a_request_in_progress_frees_after_more_than_a_window() {
    let mut snapshot = snapshot();
    snapshot.limit = usage(100, 100, 0);
    snapshot.limit.oldest = Some(NOW.0 + 30_000);
    assert_eq!(retry_after(&decide(&snapshot).unwrap_err()), 3630);
}

#[test]
fn limit_lowered_below_the_usage_rejects_requests() {
    let mut snapshot = snapshot();
    snapshot.limit = usage(10, 100, MINUTE);
    assert_eq!(retry_after(&decide(&snapshot).unwrap_err()), 3540);
}

#[test]
fn rejection_has_the_fields_of_the_budget_and_retry_after() {
    let snapshot = BudgetSnapshot {
        quota: Some(usage(30, 30, 10 * MINUTE)),
        limit: usage(100, 100, 20 * MINUTE),
        ..snapshot()
    };
    let names = decide(&snapshot).unwrap_err().headers.into_iter();
    let names: Vec<_> = names.map(|(name, _)| name).collect();
    assert_eq!(names, ["retry-after", "ratelimit-policy", "ratelimit"]);
}

#[test]
fn block_is_probed_by_one_request_per_twelfth_of_a_window() {
    let (window, later) = (Millis(HOUR), |minutes| Millis(NOW.0 + minutes * MINUTE));
    let block = UpstreamBlock::new(later(30), window, NOW);
    assert_eq!(block.refuses_until(NOW), Some(later(30)));
    let before = Millis(later(5).0 - 1);
    assert_eq!(block.refuses_until(before), Some(later(30)));
    assert_eq!(block.refuses_until(later(5)), None);

    let probed = UpstreamBlock::new(block.until, window, later(6));
    assert_eq!(probed.refuses_until(later(6)), Some(later(30)), "one alone");
    assert_eq!(probed.refuses_until(later(11)), None, "and then the next");
    assert_eq!(probed.refuses_until(later(30)), None, "it is over");
}

#[test]
fn another_429_can_only_extend_a_block() {
    let window = Millis(HOUR);
    let first = UpstreamBlock::extend(None, Millis(30 * MINUTE), window, NOW);
    for (time, until) in [(MINUTE, 30 * MINUTE), (HOUR, HOUR)] {
        let again = UpstreamBlock::extend(Some(first), Millis(time), window, NOW);
        let until = Millis(NOW.0 + until);
        assert_eq!(again, UpstreamBlock::new(until, window, NOW));
    }
}
