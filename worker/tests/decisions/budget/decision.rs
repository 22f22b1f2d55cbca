//! Granted and refused reservations. A grant reports the remaining requests. A refusal names the
//! violated policies and has a `Retry-After`.

use proptest::prelude::*;
use quillgate_worker::budget::{BudgetSnapshot, Granted, LimitUsage, decide};
use serde_json::{Value, json};

use super::{HOUR, MINUTE, expect_grant, expect_refusal, header, retry_after, snapshot, usage};
use crate::fixtures::{NOW, to_json};

#[track_caller]
fn assert_refused_by(
    snapshot: &BudgetSnapshot,
    wait: u64,
    violated: &Value,
    words: &str,
    what: &str,
) {
    let refused = expect_refusal(snapshot);
    let json = to_json(&refused);
    assert_eq!(
        (refused.status, &json["type"]),
        (429, &json!("/problems/quota-exceeded"))
    );
    assert_eq!(json["title"], "Quota exceeded");
    assert_eq!(json["detail"], words, "{what}");
    assert_eq!(&json["violated-policies"], violated, "{what}");
    assert_eq!(retry_after(&refused), wait, "{what}");
}

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
        let granted = expect_grant(&BudgetSnapshot {
            limit: usage(100, count, age),
            ..snapshot()
        });
        assert_eq!(granted.left, left);
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
    assert_fields(&expect_grant(&snapshot), policy, limit);
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
    assert_fields(&expect_grant(&snapshot), policy, limit);
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
    let refused = expect_refusal(&snapshot);
    let json = to_json(&refused);
    assert_eq!(
        json["detail"],
        "create-job: the ceiling of 2 in any 3600 seconds for all callers of the access token's rule is used up"
    );
    assert_eq!(json["violated-policies"], json!(["create-job-rule"]));
    assert_eq!(retry_after(&refused), 3000);
    assert_eq!(
        header(&refused, "ratelimit"),
        "\"create-job\";r=97, \"create-job-rule\";r=0;t=3000"
    );
}

#[test]
fn quota_is_capped_by_the_limit() {
    let snapshot = BudgetSnapshot {
        quota: Some(usage(1000, 0, 0)),
        ..snapshot()
    };
    let policy = "\"create-job\";q=100;w=3600, \"create-job-caller\";q=100;w=3600";
    let fields = expect_grant(&snapshot).fields;
    assert_eq!(fields.get("ratelimit-policy"), Some(policy));
}

#[test]
fn rejection_names_its_rule_and_when_it_ends() {
    let full = usage(100, 100, 20 * MINUTE);
    let closed = |later| Some(NOW.0 + later);
    for (what, snapshot, wait, violated, words) in [
        (
            "limit",
            BudgetSnapshot {
                limit: full,
                ..snapshot()
            },
            2400,
            json!(["create-job"]),
            "create-job: the limit of 100 in any 3600 seconds is used up",
        ),
        (
            "quota",
            BudgetSnapshot {
                quota: Some(usage(30, 30, 10 * MINUTE)),
                limit: usage(200, 100, 20 * MINUTE),
                ..snapshot()
            },
            3000,
            json!(["create-job-caller"]),
            "create-job: the access token's own quota of 30 in any 3600 seconds is used up",
        ),
        (
            "upstream",
            BudgetSnapshot {
                blocked_until: closed(60_001),
                ..snapshot()
            },
            61,
            json!(["create-job"]),
            "create-job: the upstream itself answered that its limit is reached",
        ),
        (
            "a quota of nothing",
            BudgetSnapshot {
                quota: Some(usage(0, 0, 0)),
                ..snapshot()
            },
            3600,
            json!(["create-job-caller"]),
            "create-job: the access token's own quota of 0 in any 3600 seconds is used up",
        ),
    ] {
        assert_refused_by(&snapshot, wait, &violated, words, what);
    }
}

#[test]
fn last_rule_to_end_sets_retry_after() {
    let full = usage(100, 100, 20 * MINUTE);
    let closed = |later| Some(NOW.0 + later);
    for (what, snapshot, wait, violated, words) in [
        (
            "the later of limit and quota",
            BudgetSnapshot {
                limit: full,
                quota: Some(usage(30, 30, 10 * MINUTE)),
                ..snapshot()
            },
            3000,
            json!(["create-job", "create-job-caller"]),
            "create-job: the access token's own quota of 30 in any 3600 seconds is used up",
        ),
        (
            "the later of limit and closure",
            BudgetSnapshot {
                limit: full,
                blocked_until: closed(1),
                ..snapshot()
            },
            2400,
            json!(["create-job"]),
            "create-job: the limit of 100 in any 3600 seconds is used up",
        ),
        (
            "the later of closure and limit",
            BudgetSnapshot {
                limit: full,
                blocked_until: closed(3 * HOUR),
                ..snapshot()
            },
            10_800,
            json!(["create-job"]),
            "create-job: the upstream itself answered that its limit is reached",
        ),
    ] {
        assert_refused_by(&snapshot, wait, &violated, words, what);
    }
}

#[test]
fn rejection_reports_a_remainder_of_zero_for_violated_policies() {
    let full = usage(50, 50, 20 * MINUTE);
    let half = usage(100, 50, 20 * MINUTE);
    for (snapshot, limit) in [
        (
            BudgetSnapshot {
                limit: full,
                ..snapshot()
            },
            "\"create-job\";r=0;t=2400",
        ),
        (
            BudgetSnapshot {
                limit: full,
                quota: Some(usage(40, 30, 10 * MINUTE)),
                ..snapshot()
            },
            "\"create-job\";r=0;t=2400, \"create-job-caller\";r=10",
        ),
        (
            BudgetSnapshot {
                limit: half,
                quota: Some(usage(30, 30, 10 * MINUTE)),
                ..snapshot()
            },
            "\"create-job\";r=50, \"create-job-caller\";r=0;t=3000",
        ),
        (
            BudgetSnapshot {
                limit: half,
                blocked_until: Some(NOW.0 + 5000),
                ..snapshot()
            },
            "\"create-job\";r=0;t=5",
        ),
    ] {
        let refused = expect_refusal(&snapshot);
        assert_eq!(header(&refused, "ratelimit"), limit);
        let policy = header(&refused, "ratelimit-policy");
        assert!(policy.starts_with("\"create-job\";q="));
        assert_eq!(
            policy.contains("create-job-caller"),
            snapshot.quota.is_some()
        );
        for time in limit.split(";t=").skip(1) {
            let time: u64 = time.split(',').next().unwrap().parse().unwrap();
            assert!(time <= retry_after(&refused), "{limit}");
        }
    }
}

#[test]
fn slot_of_a_request_in_progress_frees_after_more_than_a_window() {
    let in_progress = LimitUsage {
        oldest: Some(NOW.0 + 30_000),
        ..usage(100, 100, 0)
    };
    let refused = expect_refusal(&BudgetSnapshot {
        limit: in_progress,
        ..snapshot()
    });
    assert_eq!(retry_after(&refused), 3630);
}

#[test]
fn limit_lowered_below_the_usage_rejects_requests() {
    let snapshot = BudgetSnapshot {
        limit: usage(10, 100, MINUTE),
        ..snapshot()
    };
    assert_eq!(retry_after(&expect_refusal(&snapshot)), 3540);
}

#[test]
fn rejection_has_the_fields_of_the_budget_and_retry_after() {
    let snapshot = BudgetSnapshot {
        quota: Some(usage(30, 30, 10 * MINUTE)),
        limit: usage(100, 100, 20 * MINUTE),
        ..snapshot()
    };
    let names = expect_refusal(&snapshot).headers.into_iter();
    let names: Vec<_> = names.map(|(name, _)| name).collect();
    assert_eq!(names, ["retry-after", "ratelimit-policy", "ratelimit"]);
}

proptest! {
    #[test]
    fn retry_after_is_exact_to_the_second(
        (count, age) in (1..100_u32, 0..HOUR),
        own in prop::option::of((0..20_u32, 1..20_u32, 0..HOUR)),
        closed in prop::option::of(0..2 * HOUR),
    ) {
        let snapshot = BudgetSnapshot {
            blocked_until: closed.map(|later| NOW.0 + later),
            limit: usage(count, count, age),
            quota: own.map(|(max, count, age)| usage(max, count, age)),
            ..snapshot()
        };
        let refused = expect_refusal(&snapshot);
        let frees = |usage: &LimitUsage| usage.oldest.unwrap() + HOUR;
        let mut ends = frees(&snapshot.limit).max(snapshot.blocked_until.unwrap_or_default());
        // The quota is capped by the limit.
        if let Some(quota) = snapshot.quota.filter(|quota| quota.count >= quota.max.min(count)) {
            ends = ends.max(frees(&quota));
        }
        let retry_at = NOW.0 + retry_after(&refused) * 1000;
        prop_assert!(retry_at >= ends && retry_at - ends < 1000);
        // Requests are refused until just before `ends`, and granted at `retry_at`.
        let later = |now: u64| BudgetSnapshot {
            now,
            // Once the oldest reservation leaves the window, the count is one lower.
            limit: usage(count, count - u32::from(frees(&snapshot.limit) <= now), age),
            quota: None,
            ..snapshot.clone()
        };
        if own.is_none() {
            let before = later(ends - 1);
            prop_assert!(decide(&before).is_err());
            let after = later(retry_at);
            prop_assert!(decide(&after).is_ok());
        }
    }
}
