//! Grants and rejections: the remainder, the violated rule and when it ends.

use proptest::prelude::*;
use quillgate_worker::budget::{
    Ask, CLAIM_LIFE, RateLimitFields, SharedUse, Used, Verdict, reserve,
};
use serde_json::{Value, json};

use super::{HOUR, MINUTE, ask, claims, expect_grant, expect_refusal, header, retry_after, used};
use crate::fixtures::{NOW, to_json};

#[track_caller]
fn assert_refused_by(ask: &Ask, wait: u64, violated: &Value, words: &str, what: &str) {
    let refused = expect_refusal(ask);
    let json = to_json(&refused.problem);
    assert_eq!(
        (refused.problem.status, &json["type"]),
        (429, &json!("/problems/quota-exceeded"))
    );
    assert_eq!(json["title"], "Quota exceeded");
    assert_eq!(json["detail"], words, "{what}");
    assert_eq!(&json["violated-policies"], violated, "{what}");
    assert_eq!(retry_after(&refused), wait, "{what}");
    let own = violated
        .as_array()
        .unwrap()
        .contains(&json!("create-job-caller"));
    let claim = NOW.0 + wait * 1000 + CLAIM_LIFE.0;
    assert_eq!(refused.claim_until, (!own).then_some(claim), "{what}");
}

#[test]
fn header_fields_report_the_remainder_after_a_grant() {
    for (held, left, limit) in [
        (vec![], 99, "\"create-job\";r=99;t=3600"),
        (vec![used("alice", 1, 0)], 98, "\"create-job\";r=98;t=3600"),
        (
            vec![used("bob", 58, HOUR / 2)],
            41,
            "\"create-job\";r=41;t=1800",
        ),
        (
            vec![used("bob", 9, 1), used("alice", 90, 2)],
            0,
            "\"create-job\";r=0;t=3600",
        ),
        (
            vec![used("bob", 1, HOUR - 1)],
            98,
            "\"create-job\";r=98;t=1",
        ),
        (
            vec![used("bob", 1, HOUR - 1001)],
            98,
            "\"create-job\";r=98;t=2",
        ),
    ] {
        let granted = expect_grant(&Ask {
            used: held,
            ..ask()
        });
        assert_eq!(granted.left, left);
        assert_eq!(
            granted.fields.rate_limit_policy,
            "\"create-job\";q=100;w=3600"
        );
        assert_eq!(granted.fields.rate_limit, limit);
    }
}

#[test]
fn token_quota_is_reported_besides_the_limit() {
    let ask = Ask {
        quota: Some(10),
        used: vec![used("bob", 50, 3 * MINUTE), used("alice", 2, MINUTE)],
        ..ask()
    };
    let policy = "\"create-job\";q=100;w=3600, \"create-job-caller\";q=10;w=3600";
    let limit = "\"create-job\";r=47;t=3420, \"create-job-caller\";r=7;t=3540";
    let expected = RateLimitFields {
        rate_limit_policy: policy.to_owned(),
        rate_limit: limit.to_owned(),
    };
    assert_eq!(expect_grant(&ask).fields, expected);
}

fn shared(most: u32, count: u32, age: u64) -> SharedUse {
    SharedUse {
        most,
        count,
        oldest: (count > 0).then_some(NOW.0 - age),
    }
}

#[test]
fn shared_ceiling_with_the_smallest_remainder_is_reported() {
    let ask = Ask {
        quota: Some(10),
        shared: vec![
            shared(50, 20, 2 * MINUTE),
            shared(8, 3, MINUTE),
            shared(9, 0, 0),
        ],
        used: vec![used("bob", 50, 3 * MINUTE), used("alice", 2, MINUTE)],
        ..ask()
    };
    let policy = "\"create-job\";q=100;w=3600, \"create-job-caller\";q=10;w=3600, \"create-job-rule\";q=8;w=3600";
    let limit = "\"create-job\";r=47;t=3420, \"create-job-caller\";r=7;t=3540, \"create-job-rule\";r=4;t=3540";
    let expected = RateLimitFields {
        rate_limit_policy: policy.to_owned(),
        rate_limit: limit.to_owned(),
    };
    assert_eq!(expect_grant(&ask).fields, expected);
}

#[test]
fn rejection_by_a_shared_ceiling_creates_no_claim() {
    let held = vec![used("bob", 3, 20 * MINUTE)];
    for (count, is_granted) in [(0, true), (2, true), (3, false), (4, false)] {
        let ask = Ask {
            shared: vec![shared(3, count, 20 * MINUTE)],
            used: held.clone(),
            ..ask()
        };
        assert_eq!(
            matches!(reserve(&ask), Verdict::Granted(_)),
            is_granted,
            "{count}"
        );
    }
    // If two are exhausted, the caller waits for the later one.
    let ask = Ask {
        shared: vec![shared(3, 3, 20 * MINUTE), shared(2, 2, 10 * MINUTE)],
        used: held,
        ..ask()
    };
    let refused = expect_refusal(&ask);
    let json = to_json(&refused.problem);
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
    assert_eq!(refused.claim_until, None);
}

#[test]
fn quota_is_capped_by_the_limit() {
    let ask = Ask {
        quota: Some(1000),
        ..ask()
    };
    let policy = "\"create-job\";q=100;w=3600, \"create-job-caller\";q=100;w=3600";
    assert_eq!(expect_grant(&ask).fields.rate_limit_policy, policy);
}

#[test]
fn rejection_names_its_rule_and_when_it_ends() {
    let full = || vec![used("bob", 70, 20 * MINUTE), used("alice", 30, 10 * MINUTE)];
    let closed = |later| Some(NOW.0 + later);
    for (what, ask, wait, violated, words) in [
        (
            "limit",
            Ask {
                used: full(),
                ..ask()
            },
            2400,
            json!(["create-job"]),
            "create-job: the limit of 100 in any 3600 seconds is used up",
        ),
        (
            "quota",
            Ask {
                used: full(),
                quota: Some(30),
                limit: 200,
                ..ask()
            },
            3000,
            json!(["create-job-caller"]),
            "create-job: the access token's own quota of 30 in any 3600 seconds is used up",
        ),
        (
            "fair share",
            Ask {
                used: vec![used("alice", 97, 10 * MINUTE), used("bob", 1, 20 * MINUTE)],
                claims: vec![claims("bob", 2)],
                ..ask()
            },
            2400,
            json!(["create-job"]),
            "create-job: the slots that are left are kept for other callers, who wait and hold less than their fair share",
        ),
        (
            "upstream",
            Ask {
                closed_until: closed(60_001),
                ..ask()
            },
            61,
            json!(["create-job"]),
            "create-job: the upstream itself answered that its limit is reached",
        ),
        (
            "a quota of nothing",
            Ask {
                quota: Some(0),
                ..ask()
            },
            3600,
            json!(["create-job-caller"]),
            "create-job: the access token's own quota of 0 in any 3600 seconds is used up",
        ),
    ] {
        assert_refused_by(&ask, wait, &violated, words, what);
    }
}

#[test]
fn last_rule_to_end_sets_retry_after() {
    let full = || vec![used("bob", 70, 20 * MINUTE), used("alice", 30, 10 * MINUTE)];
    let closed = |later| Some(NOW.0 + later);
    for (what, ask, wait, violated, words) in [
        (
            "the later of limit and quota",
            Ask {
                used: full(),
                quota: Some(30),
                ..ask()
            },
            3000,
            json!(["create-job", "create-job-caller"]),
            "create-job: the access token's own quota of 30 in any 3600 seconds is used up",
        ),
        (
            "the later of limit and closure",
            Ask {
                used: full(),
                closed_until: closed(1),
                ..ask()
            },
            2400,
            json!(["create-job"]),
            "create-job: the limit of 100 in any 3600 seconds is used up",
        ),
        (
            "the later of closure and limit",
            Ask {
                used: full(),
                closed_until: closed(3 * HOUR),
                ..ask()
            },
            10_800,
            json!(["create-job"]),
            "create-job: the upstream itself answered that its limit is reached",
        ),
    ] {
        assert_refused_by(&ask, wait, &violated, words, what);
    }
}

#[test]
fn rejection_reports_a_remainder_of_zero_for_violated_policies() {
    let half = || vec![used("bob", 20, 20 * MINUTE), used("alice", 30, 10 * MINUTE)];
    for (ask, limit) in [
        (
            Ask {
                limit: 50,
                used: half(),
                ..ask()
            },
            "\"create-job\";r=0;t=2400",
        ),
        (
            Ask {
                limit: 50,
                used: half(),
                quota: Some(40),
                ..ask()
            },
            "\"create-job\";r=0;t=2400, \"create-job-caller\";r=10",
        ),
        (
            Ask {
                used: half(),
                quota: Some(30),
                ..ask()
            },
            "\"create-job\";r=50, \"create-job-caller\";r=0;t=3000",
        ),
        (
            Ask {
                used: half(),
                closed_until: Some(NOW.0 + 5000),
                ..ask()
            },
            "\"create-job\";r=0;t=5",
        ),
        (
            Ask {
                limit: 51,
                used: half(),
                claims: vec![claims("bob", 1)],
                ..ask()
            },
            "\"create-job\";r=0;t=2400",
        ),
    ] {
        let refused = expect_refusal(&ask);
        assert_eq!(header(&refused, "ratelimit"), limit);
        let policy = header(&refused, "ratelimit-policy");
        assert!(policy.starts_with("\"create-job\";q="));
        assert_eq!(policy.contains("create-job-caller"), ask.quota.is_some());
        for time in limit.split(";t=").skip(1) {
            let time: u64 = time.split(',').next().unwrap().parse().unwrap();
            assert!(time <= retry_after(&refused), "{limit}");
        }
    }
}

#[test]
fn slot_of_a_request_in_progress_frees_after_more_than_a_window() {
    let under_way = Used {
        caller: "bob".to_owned(),
        count: 100,
        oldest: NOW.0 + 30_000,
    };
    let refused = expect_refusal(&Ask {
        used: vec![under_way],
        ..ask()
    });
    assert_eq!(retry_after(&refused), 3630);
}

#[test]
fn limit_lowered_below_the_usage_rejects_requests() {
    let ask = Ask {
        limit: 10,
        used: vec![used("bob", 100, MINUTE)],
        ..ask()
    };
    assert_eq!(retry_after(&expect_refusal(&ask)), 3540);
}

#[test]
fn rejection_fields_can_be_added_to_a_cached_response() {
    let ask = Ask {
        quota: Some(30),
        used: vec![used("bob", 70, 20 * MINUTE), used("alice", 30, 10 * MINUTE)],
        ..ask()
    };
    let refused = expect_refusal(&ask);
    let headers = refused.fields.clone().into_headers();
    for name in ["ratelimit", "ratelimit-policy"] {
        assert_eq!(headers.get(name), Some(header(&refused, name)));
    }
    assert_eq!(headers.iter().count(), 2);
}

proptest! {
    #[test]
    fn retry_after_is_exact_to_the_second(
        held in prop::collection::vec((1..20_u32, 0..HOUR), 1..5),
        own_quota in prop::option::of(0..20_u32),
        closed in prop::option::of(0..2 * HOUR),
    ) {
        let held: Vec<_> = held.iter().enumerate().map(|(number, (count, age))| {
            used(if number == 0 { "alice" } else { ["bob", "carol", "dan", "eve"][number - 1] }, *count, *age)
        }).collect();
        let limit = held.iter().map(|used| used.count).sum();
        let ask = Ask { limit, used: held, quota: own_quota, closed_until: closed.map(|later| NOW.0 + later), ..ask() };
        let refused = expect_refusal(&ask);
        let frees = |used: &Used| used.oldest + HOUR;
        let mut ends = ask.used.iter().map(frees).min().unwrap();
        if own_quota.is_some_and(|quota| ask.used[0].count >= quota) {
            ends = ends.max(frees(&ask.used[0]));
        }
        ends = ends.max(ask.closed_until.unwrap_or_default());
        let retry_at = NOW.0 + retry_after(&refused) * 1000;
        prop_assert!(retry_at >= ends && retry_at - ends < 1000);
        // The rule applies until just before the instant and ends at the instant.
        let later = |now: u64| Ask {
            now,
            used: ask.used.iter().filter_map(|used| {
                // When the oldest slot frees, the caller holds one less.
                let freed = u32::from(frees(used) <= now);
                let count = used.count - freed;
                (count > 0).then(|| Used { count, oldest: used.oldest.max((now + 1).saturating_sub(HOUR)), ..used.clone() })
            }).collect(),
            quota: None,
            ..ask.clone()
        };
        if own_quota.is_none() {
            let before = later(ends - 1);
            prop_assert!(matches!(reserve(&before), Verdict::Refused(_)));
            let after = later(retry_at);
            prop_assert!(matches!(reserve(&after), Verdict::Granted(_)));
        }
    }
}
