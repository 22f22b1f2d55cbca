//! How many requests go upstream, and whose.

use proptest::prelude::*;
use quillgate::Millis;
use quillgate::Policy;
use quillgate_worker::budget::{
    Ask, CLAIM_LIFE, Claims, Closure, Granted, RateLimitFields, Refused, SharedUse, Used, Verdict,
    plan_closure, reserve,
};
use serde_json::{Value, json};

use crate::fixtures::{NOW, to_json};

const HOUR: u64 = 3_600_000;
const MINUTE: u64 = 60_000;

/// A request of `alice` for one of 100 slots an hour, of which nothing is used.
fn ask() -> Ask {
    Ask {
        policy: Policy::CreateJob,
        limit: 100,
        window: HOUR,
        now: NOW.0,
        caller: "alice".to_owned(),
        quota: None,
        shared: Vec::new(),
        closed_until: None,
        used: Vec::new(),
        claims: Vec::new(),
    }
}

fn used(caller: &str, count: u32, age: u64) -> Used {
    Used {
        caller: caller.to_owned(),
        count,
        oldest: NOW.0 - age,
    }
}

fn claims(caller: &str, count: u32) -> Claims {
    Claims {
        caller: caller.to_owned(),
        count,
    }
}

#[track_caller]
fn expect_grant(ask: &Ask) -> Granted {
    match reserve(ask) {
        Verdict::Granted(granted) => granted,
        Verdict::Refused(refused) => panic!("refused: {}", refused.problem.detail),
    }
}

#[track_caller]
fn expect_refusal(ask: &Ask) -> Refused {
    match reserve(ask) {
        Verdict::Granted(granted) => panic!("granted: {granted:?}"),
        Verdict::Refused(refused) => refused,
    }
}

fn header<'a>(refused: &'a Refused, name: &str) -> &'a str {
    let found = refused
        .problem
        .headers
        .iter()
        .find(|(other, _)| *other == name);
    found.map(|(_, value)| value.as_str()).unwrap()
}

fn retry_after(refused: &Refused) -> u64 {
    header(refused, "retry-after").parse().unwrap()
}

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
fn the_header_fields_say_what_is_left_after_a_grant() {
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
fn a_tokens_own_quota_is_named_beside_the_limit() {
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
fn of_shared_ceilings_the_one_with_the_least_left_is_named() {
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
fn a_shared_ceiling_refuses_by_itself_and_leaves_no_claim() {
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
    // Of two that are used up, the caller waits for the later one.
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
fn a_quota_above_the_limit_is_no_more_than_the_limit() {
    let ask = Ask {
        quota: Some(1000),
        ..ask()
    };
    let policy = "\"create-job\";q=100;w=3600, \"create-job-caller\";q=100;w=3600";
    assert_eq!(expect_grant(&ask).fields.rate_limit_policy, policy);
}

#[test]
fn each_refusal_says_which_rule_it_is_by_and_when_that_ends() {
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
fn when_several_rules_refuse_the_last_to_end_counts() {
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
fn a_refusals_fields_have_nothing_left_of_what_is_violated() {
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
fn a_slot_of_a_request_under_way_frees_later_than_a_window_from_now() {
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
fn a_limit_that_was_lowered_below_what_is_used_refuses() {
    let ask = Ask {
        limit: 10,
        used: vec![used("bob", 100, MINUTE)],
        ..ask()
    };
    assert_eq!(retry_after(&expect_refusal(&ask)), 3540);
}

#[test]
fn whether_a_slot_is_owed_to_others_depends_on_shares_and_claims() {
    // Alice asks for the last of 10 slots.
    for (what, alice, others, waiting, given) in [
        ("nobody waits", 9, vec![], vec![], true),
        (
            "nobody waits, another holds some",
            5,
            vec![("bob", 4)],
            vec![],
            true,
        ),
        (
            "bob waits and holds nothing",
            9,
            vec![],
            vec![("bob", 1)],
            false,
        ),
        (
            "bob waits and holds less than half",
            5,
            vec![("bob", 4)],
            vec![("bob", 1)],
            false,
        ),
        (
            "bob waits and has his half",
            4,
            vec![("bob", 5)],
            vec![("bob", 9)],
            true,
        ),
        (
            "bob waits and has more",
            3,
            vec![("bob", 6)],
            vec![("bob", 9)],
            true,
        ),
        ("alice waits herself", 9, vec![], vec![("alice", 9)], true),
        (
            "both wait",
            9,
            vec![],
            vec![("alice", 9), ("bob", 1)],
            false,
        ),
        (
            "alice is below her share",
            3,
            vec![("bob", 6)],
            vec![("carol", 9)],
            false,
        ),
        (
            "alice is below her share of 3",
            2,
            vec![("bob", 7)],
            vec![("carol", 9)],
            true,
        ),
        (
            "an empty claim counts for nothing",
            9,
            vec![],
            vec![("bob", 0)],
            true,
        ),
    ] {
        let ask = Ask {
            limit: 10,
            used: [("alice", alice)]
                .iter()
                .chain(&others)
                .map(|(who, count)| used(who, *count, 1))
                .collect(),
            claims: waiting
                .iter()
                .map(|(who, count)| claims(who, *count))
                .collect(),
            ..ask()
        };
        assert_eq!(
            matches!(reserve(&ask), Verdict::Granted(_)),
            given,
            "{what}"
        );
    }
}

#[test]
fn more_claims_than_the_share_allows_keep_no_more_than_the_share() {
    // Two are active, so bob is owed 5 of 10 however often he was refused.
    for (held, given) in [(4, true), (5, false), (9, false)] {
        let ask = Ask {
            limit: 10,
            used: vec![used("alice", held, 1)],
            claims: vec![claims("bob", 1000)],
            ..ask()
        };
        assert_eq!(
            matches!(reserve(&ask), Verdict::Granted(_)),
            given,
            "{held}"
        );
    }
}

#[test]
fn a_slot_left_over_by_even_shares_is_owed_to_nobody() {
    for (alice, bob, given) in [(5, 5, true), (5, 0, true), (6, 0, false), (6, 4, false)] {
        let mut ask = Ask {
            limit: 11,
            used: vec![used("alice", alice, 1)],
            claims: vec![claims("bob", 9)],
            ..ask()
        };
        if bob > 0 {
            ask.used.push(used("bob", bob, 1));
        }
        let found = matches!(reserve(&ask), Verdict::Granted(_));
        assert_eq!(found, given, "{alice} {bob}");
    }
}

#[test]
fn with_more_callers_than_slots_the_share_is_one() {
    let ask = Ask {
        limit: 2,
        used: vec![used("alice", 1, 1)],
        claims: ["bob", "carol", "dan"].map(|who| claims(who, 1)).into(),
        ..ask()
    };
    assert_eq!(retry_after(&expect_refusal(&ask)), 3600);
    for caller in ["bob", "erin"] {
        expect_grant(&Ask {
            caller: caller.to_owned(),
            ..ask.clone()
        });
    }
}

#[test]
fn an_upstreams_429_closes_for_as_long_as_it_asks_up_to_the_window() {
    let window = Millis(3 * HOUR);
    for (asked, closed) in [
        (None, MINUTE),
        (Some(Millis(0)), 0),
        (Some(Millis(1)), 1),
        (Some(Millis(2 * HOUR)), 2 * HOUR),
        (Some(Millis(24 * HOUR)), 3 * HOUR),
        (Some(Millis(u64::MAX)), 3 * HOUR),
    ] {
        assert_eq!(plan_closure(asked, window), Millis(closed));
    }
}

#[test]
fn what_is_closed_is_probed_by_one_request_every_twelfth_of_a_window() {
    let (window, later) = (Millis(HOUR), |minutes| Millis(NOW.0 + minutes * MINUTE));
    let closure = Closure::new(later(30), window, NOW);
    assert_eq!(closure.refuses_until(NOW), Some(later(30)));
    let before = Millis(later(5).0 - 1);
    assert_eq!(closure.refuses_until(before), Some(later(30)));
    assert_eq!(closure.refuses_until(later(5)), None);

    let probed = closure.with_probe(7, window, later(6));
    assert_eq!((probed.until, probed.probe), (later(30), Some(7)));
    assert_eq!(probed.refuses_until(later(6)), Some(later(30)), "one alone");
    assert_eq!(probed.refuses_until(later(11)), None, "and then the next");
    assert_eq!(probed.refuses_until(later(30)), None, "it is over");
}

#[test]
fn another_429_closes_for_longer_and_never_for_a_shorter_time() {
    let window = Millis(HOUR);
    let first = Closure::extend(None, Millis(30 * MINUTE), window, NOW);
    let probed = first.with_probe(7, window, NOW);
    for (time, until) in [(MINUTE, 30 * MINUTE), (HOUR, HOUR)] {
        let again = Closure::extend(Some(probed), Millis(time), window, NOW);
        let until = Millis(NOW.0 + until);
        assert_eq!(again, Closure::new(until, window, NOW));
    }
}

#[test]
fn a_refusal_has_its_fields_for_an_answer_that_is_given_all_the_same() {
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

/// A log as the host keeps it in SQL, and when the upstream counted each request.
#[derive(Default)]
struct Log {
    limit: u32,
    window: u64,
    now: u64,
    rows: Vec<Row>,
    claims: Vec<(String, u64)>,
    /// When the upstream counted what it did, and the last `at` of its row.
    counted: Vec<(u64, u64)>,
}

struct Row {
    caller: String,
    at: u64,
    /// When it was reserved, while it is under way.
    since: Option<u64>,
}

const TIMEOUT: u64 = 30_000;

impl Log {
    fn new(limit: u32, window: u64) -> Self {
        Self {
            limit,
            window,
            now: NOW.0,
            ..Self::default()
        }
    }

    fn ask_of(&self, caller: &str) -> Ask {
        let mut held: Vec<Used> = Vec::new();
        for row in self
            .rows
            .iter()
            .filter(|row| row.at + self.window > self.now)
        {
            match held.iter_mut().find(|used| used.caller == row.caller) {
                Some(used) => {
                    used.count += 1;
                    used.oldest = used.oldest.min(row.at);
                }
                None => held.push(Used {
                    caller: row.caller.clone(),
                    count: 1,
                    oldest: row.at,
                }),
            }
        }
        let mut waiting: Vec<Claims> = Vec::new();
        for (caller, _) in self.claims.iter().filter(|(_, until)| *until > self.now) {
            match waiting.iter_mut().find(|claims| claims.caller == *caller) {
                Some(claims) => claims.count += 1,
                None => waiting.push(claims(caller, 1)),
            }
        }
        Ask {
            limit: self.limit,
            window: self.window,
            now: self.now,
            caller: caller.to_owned(),
            used: held,
            claims: waiting,
            ..ask()
        }
    }

    /// A request: its verdict, with a row in the log when it is granted.
    fn request(&mut self, caller: &str) -> Verdict {
        let verdict = reserve(&self.ask_of(caller));
        match &verdict {
            Verdict::Granted(_) => {
                let own = self
                    .claims
                    .iter()
                    .position(|(claiming, until)| claiming == caller && *until > self.now);
                own.map(|own| self.claims.remove(own));
                self.rows.push(Row {
                    caller: caller.to_owned(),
                    at: self.now + TIMEOUT,
                    since: Some(self.now),
                });
            }
            Verdict::Refused(refused) => {
                self.claims
                    .extend(refused.claim_until.map(|until| (caller.to_owned(), until)));
            }
        }
        verdict
    }

    /// Ends the request of a row now; the upstream counted it at `part` thousandths of its time.
    fn settle(&mut self, row: usize, part: u64) {
        if let Some(since) = self.rows[row].since.take() {
            let took = (self.now - since) * part / 1000;
            self.rows[row].at = self.now;
            self.counted.push((since + took, self.now));
        }
    }

    /// A request that succeeds at once.
    fn request_and_settle(&mut self, caller: &str) -> Verdict {
        let verdict = self.request(caller);
        if matches!(verdict, Verdict::Granted(_)) {
            self.settle(self.rows.len() - 1, 0);
        }
        verdict
    }

    fn is_granted(&mut self, caller: &str) -> bool {
        matches!(self.request_and_settle(caller), Verdict::Granted(_))
    }

    /// Lets time pass; what is under way times out when its time has come.
    fn pass(&mut self, later: u64, part: u64) {
        let end = self.now + later;
        let due = |row: &Row| row.since.map(|since| since + TIMEOUT);
        while let Some(at) = self
            .rows
            .iter()
            .filter_map(due)
            .min()
            .filter(|at| *at <= end)
        {
            let row = self
                .rows
                .iter()
                .position(|row| due(row) == Some(at))
                .unwrap();
            self.now = at;
            self.settle(row, part);
        }
        self.now = end;
    }
}

/// The most of these instants that lie in any one window.
fn most_in_a_window(mut instants: Vec<u64>, window: u64) -> usize {
    instants.sort_unstable();
    let held = |end: &u64| {
        instants
            .iter()
            .filter(|at| **at <= *end && **at + window > *end)
            .count()
    };
    instants.iter().map(held).max().unwrap_or_default()
}

#[test]
fn of_three_hundred_requests_at_one_instant_exactly_the_limit_is_granted() {
    for callers in [1, 2, 3, 7, 100, 300] {
        let mut log = Log::new(100, HOUR);
        let verdicts: Vec<_> = (0..300)
            .map(|ask| log.request(&format!("c{}", ask % callers)))
            .collect();
        let granted = verdicts
            .iter()
            .filter(|verdict| matches!(verdict, Verdict::Granted(_)));
        assert_eq!(granted.count(), 100, "{callers}");
        for verdict in verdicts.iter().skip(100) {
            let Verdict::Refused(refused) = verdict else {
                panic!("{callers}")
            };
            assert_eq!(retry_after(refused), 3630);
        }
    }
}

#[test]
fn a_windows_edge_lets_no_more_through() {
    let mut log = Log::new(100, HOUR);
    for _ in 0..50 {
        assert!(log.is_granted("alice"));
    }
    log.pass(HOUR - 1, 0);
    let at_the_end = (0..300).filter(|_| log.is_granted("alice")).count();
    log.pass(1, 0);
    let at_the_start = (0..300).filter(|_| log.is_granted("alice")).count();
    assert_eq!((at_the_end, at_the_start), (50, 50));
}

#[test]
fn the_example_of_the_deploy_script_and_alice_comes_out_as_documented() {
    let mut log = Log::new(10, HOUR);
    for _ in 0..10 {
        assert!(log.is_granted("script"));
        log.pass(MINUTE, 0);
    }
    log.pass(20 * MINUTE, 0);
    let Verdict::Refused(refused) = log.request_and_settle("alice") else {
        panic!()
    };
    assert_eq!(retry_after(&refused), 1800);
    log.pass(30 * MINUTE, 0);
    assert!(!log.is_granted("script"));
    assert!(log.is_granted("alice"));
    log.pass(MINUTE, 0);
    assert!(log.is_granted("script"));
}

#[test]
fn a_claim_that_is_not_taken_up_holds_nobody_back_for_longer_than_a_minute() {
    let mut log = Log::new(10, HOUR);
    assert_eq!((0..20).filter(|_| log.is_granted("script")).count(), 10);
    assert!(!log.is_granted("alice"));
    log.pass(HOUR, 0);
    assert_eq!((0..20).filter(|_| log.is_granted("script")).count(), 9);
    log.pass(MINUTE - 1, 0);
    assert!(!log.is_granted("script"));
    log.pass(1, 0);
    assert!(log.is_granted("script"));
}

#[test]
fn many_small_callers_all_get_a_slot_while_one_asks_without_end() {
    let mut log = Log::new(20, 10 * MINUTE);
    for _ in 0..20 {
        assert!(log.is_granted("hog"));
        log.pass(7_001, 0);
    }
    let mut waiting: Vec<(String, u64)> = (0..12)
        .map(|number| (format!("c{number}"), log.now))
        .collect();
    let end = log.now + 20 * MINUTE;
    while !waiting.is_empty() {
        assert!(log.now < end, "{waiting:?}");
        let _ = log.is_granted("hog");
        waiting.retain_mut(|(caller, retry)| {
            if log.now < *retry {
                return true;
            }
            match log.request_and_settle(caller) {
                Verdict::Granted(_) => false,
                Verdict::Refused(refused) => {
                    *retry = log.now + retry_after(&refused) * 1000;
                    true
                }
            }
        });
        log.pass(250, 0);
    }
}

#[derive(Debug, Clone)]
enum Step {
    Request(u8),
    Pass(u64),
    Settle(prop::sample::Index, u64),
    /// The upstream did nothing: 401, 403, 429.
    Release(prop::sample::Index),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..4_u8).prop_map(Step::Request),
        2 => (0..20_000_u64).prop_map(Step::Pass),
        2 => (any::<prop::sample::Index>(), 0..=1000_u64).prop_map(|(row, part)| Step::Settle(row, part)),
        1 => any::<prop::sample::Index>().prop_map(Step::Release),
    ]
}

proptest! {
    #[test]
    fn no_window_ever_holds_more_than_the_limit(
        limit in 1..8_u32,
        window in 1_000..60_000_u64,
        steps in prop::collection::vec(step(), 0..200),
    ) {
        let mut log = Log::new(limit, window);
        for step in steps {
            match step {
                Step::Request(caller) => {
                    let verdict = log.request(&format!("c{caller}"));
                    let held = log.ask_of("").used.iter().map(|used| used.count).sum::<u32>();
                    prop_assert!(held <= limit);
                    if let Verdict::Granted(granted) = verdict {
                        prop_assert_eq!(granted.left, limit - held);
                    }
                }
                Step::Pass(later) => log.pass(later, 1000),
                Step::Settle(row, part) if !log.rows.is_empty() => {
                    let row = row.index(log.rows.len());
                    log.settle(row, part);
                }
                Step::Release(row) if !log.rows.is_empty() => {
                    let row = row.index(log.rows.len());
                    if log.rows[row].since.is_some() {
                        log.rows.remove(row);
                    }
                }
                _ => {}
            }
        }
        log.pass(TIMEOUT, 500);
        let by_the_upstream = log.counted.iter().map(|(counted, _)| *counted).collect();
        prop_assert!(most_in_a_window(by_the_upstream, window) <= limit as usize);
        let by_the_log = log.counted.iter().map(|(_, at)| *at).collect();
        prop_assert!(most_in_a_window(by_the_log, window) <= limit as usize);
    }

    #[test]
    fn a_sole_caller_can_always_fill_the_limit(
        limit in 1..50_u32,
        ages in prop::collection::vec(0..HOUR, 0..50),
        own_claims in 0..50_u32,
    ) {
        let held = u32::try_from(ages.len()).unwrap().min(limit);
        let mut ask = Ask { limit, claims: vec![claims("alice", own_claims)], ..ask() };
        let oldest = ages.iter().take(held as usize).max().copied().unwrap_or_default();
        for count in held..limit {
            if count > 0 {
                ask.used = vec![used("alice", count, oldest)];
            }
            prop_assert_eq!(expect_grant(&ask).left, limit - count - 1);
        }
        ask.used = vec![used("alice", limit, oldest)];
        expect_refusal(&ask);
    }

    #[test]
    fn a_caller_that_retries_in_time_is_served_before_one_that_asks_without_end(
        limit in 2..12_u32,
        window in 10_000..120_000_u64,
        pace in 100..3_000_u64,
        first in 0..120_000_u64,
        wishes in 1..4,
    ) {
        let mut log = Log::new(limit, window);
        let begin = log.now + first;
        while log.now < begin {
            let _ = log.is_granted("hog");
            log.pass(pace.min(begin - log.now), 0);
        }
        // Whatever small wishes there are, one after the other, each is granted at the first
        // retry at the latest, as long as the caller holds less than its share.
        for _ in 0..wishes {
            let held = log.ask_of("alice").used.iter().find(|used| used.caller == "alice").map_or(0, |used| used.count);
            if held >= limit / 2 {
                break;
            }
            let _ = log.is_granted("hog");
            if let Verdict::Refused(refused) = log.request_and_settle("alice") {
                let retry = log.now + retry_after(&refused) * 1000;
                while log.now < retry {
                    let _ = log.is_granted("hog");
                    log.pass(pace.min(retry - log.now), 0);
                }
                let _ = log.is_granted("hog");
                prop_assert!(log.is_granted("alice"));
            }
        }
    }

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
        // A moment before, the reason still holds; at the moment itself it is gone.
        let later = |now: u64| Ask {
            now,
            used: ask.used.iter().filter_map(|used| {
                // At the moment its oldest frees, one less of it is held.
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
