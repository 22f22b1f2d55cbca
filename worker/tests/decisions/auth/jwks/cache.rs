use quillgate::Millis;
use quillgate_worker::auth::invalid_token;
use quillgate_worker::auth::jwks::{
    Algorithm, FetchReason, KeySet, KeySetReply, PublicKey, RememberedSet, read_age,
};
use quillgate_worker::http::problem::Problem;
use serde_json::json;

use crate::fixtures::{NOW, at, change, ec_key, key_set, modulus, rsa_key};

const UNKNOWN_KID: &str = "the access token's kid is not one of its issuer's keys";

/// Returns a key set with the keys `key-1` and `key-2`, fetched at `now`.
fn fetched(now: Millis) -> KeySet {
    KeySet::read(&key_set(&[rsa_key(), ec_key()]), now).unwrap()
}

/// Returns unknown key ids and the times to look them up: one every 26 ms for a minute.
fn random_kids() -> impl Iterator<Item = (String, Millis)> {
    (0..2_300).map(|number| (format!("random-{number}"), NOW.plus(Millis(number * 26))))
}

#[derive(Debug, PartialEq)]
enum Search {
    Found(Result<PublicKey, Problem>),
    Fetch(FetchReason),
}

const FIRST: Search = Search::Fetch(FetchReason::First);
const SEARCH: Search = Search::Fetch(FetchReason::Search);
const REFRESH: Search = Search::Fetch(FetchReason::Refresh);

fn unknown() -> Search {
    Search::Found(Err(invalid_token(UNKNOWN_KID)))
}

fn unavailable() -> Search {
    Search::Found(Err(Problem::issuer_unavailable()))
}

fn search<'a>(
    remembered: &mut RememberedSet,
    kid: impl Into<Option<&'a str>>,
    now: Millis,
) -> Search {
    search_for(remembered, kid.into(), Algorithm::Rs256, now)
}

fn search_for(
    remembered: &mut RememberedSet,
    kid: Option<&str>,
    algorithm: Algorithm,
    now: Millis,
) -> Search {
    match remembered.plan_fetch(kid, algorithm, now) {
        Some(reason) => Search::Fetch(reason),
        None => Search::Found(remembered.find(kid, algorithm, now)),
    }
}

fn conclude<'a>(
    remembered: &mut RememberedSet,
    set: Option<KeySet>,
    kid: impl Into<Option<&'a str>>,
    now: Millis,
) {
    remembered.conclude(FetchReason::Search, set, kid.into(), Algorithm::Rs256, now);
}

/// Ends the refresh of a set for the key `key-1`.
fn conclude_refresh(remembered: &mut RememberedSet, set: Option<KeySet>, now: Millis) {
    let (reason, kid) = (FetchReason::Refresh, Some("key-1"));
    remembered.conclude(reason, set, kid, Algorithm::Rs256, now);
}

fn is_found(search: &Search) -> bool {
    matches!(search, Search::Found(Ok(_)))
}

/// Returns the key set that an isolate received at [`NOW`], when it searched for `key-1`.
fn remembered() -> RememberedSet {
    let mut remembered = RememberedSet::default();
    assert_eq!(search(&mut remembered, "key-1", NOW), FIRST);
    conclude(&mut remembered, Some(fetched(NOW)), "key-1", NOW);
    remembered
}

#[test]
fn random_kids_cause_few_fetches_a_minute() {
    // One for the first set and, if the issuer sends one, one for the first random key.
    for (is_available, expected) in [(false, 6), (true, 1)] {
        let mut remembered = RememberedSet::default();
        let mut fetches = 0;
        for (kid, now) in random_kids() {
            if let Search::Fetch(_) = search(&mut remembered, &*kid, now) {
                fetches += 1;
                let set = is_available.then(|| fetched(now));
                conclude(&mut remembered, set, &*kid, now);
            }
            let found = remembered.find(Some("key-1"), Algorithm::Rs256, now);
            assert_eq!(found.is_ok(), is_available);
        }
        assert_eq!(fetches, expected, "{is_available}");
    }
}

#[test]
fn only_unknown_keys_wait_for_the_fetch_in_progress() {
    let mut remembered = remembered();
    assert_eq!(search(&mut remembered, "random-0", at(1)), SEARCH);
    for (kid, now) in random_kids() {
        let now = now.plus(Millis(1_000));
        assert_eq!(search(&mut remembered, &*kid, now), SEARCH);
        assert!(is_found(&search(&mut remembered, "key-1", now)));
    }
    assert_eq!(search(&mut remembered, "random-1", at(61)), SEARCH);
    conclude(&mut remembered, None, "random-1", at(62));
    // The issuer may have the key, so the caller may try again.
    assert_eq!(search(&mut remembered, "random-1", at(62)), unavailable());
    assert_eq!(search(&mut remembered, "random-1", at(71)), SEARCH);
    conclude(&mut remembered, Some(fetched(at(72))), "random-1", at(72));
    assert_eq!(search(&mut remembered, "random-1", at(72)), unknown());
}

#[test]
fn missing_key_set_is_fetched_every_ten_seconds() {
    let mut remembered = RememberedSet::default();
    for attempt in 0..3 {
        let begun = at(attempt * 10);
        assert_eq!(search(&mut remembered, "key-1", begun), FIRST);
        assert_eq!(search(&mut remembered, "key-1", begun), FIRST);
        conclude(&mut remembered, None, "key-1", at(attempt * 10 + 5));
        for seconds in [5, 9] {
            let now = at(attempt * 10 + seconds);
            assert_eq!(search(&mut remembered, "key-1", now), unavailable());
        }
    }
}

#[test]
fn key_set_is_fetched_again_after_an_hour() {
    let mut remembered = remembered();
    for seconds in [0, 1, 3_599] {
        assert!(is_found(&search(&mut remembered, "key-1", at(seconds))));
    }
    assert_eq!(search(&mut remembered, "key-1", at(3_600)), REFRESH);
    // Other callers use the known key during the fetch.
    assert!(is_found(&search(&mut remembered, "key-1", at(3_600))));
    // A key that was removed from the set causes one search, and is then unknown until the pause
    // ends.
    let empty = KeySet::read(&key_set(&[]), at(3_600)).unwrap();
    conclude_refresh(&mut remembered, Some(empty), at(3_600));
    assert_eq!(search(&mut remembered, "key-1", at(3_600)), SEARCH);
    let empty = KeySet::read(&key_set(&[]), at(3_600)).unwrap();
    conclude(&mut remembered, Some(empty), "key-1", at(3_600));
    assert_eq!(search(&mut remembered, "key-1", at(3_601)), unknown());
}

#[test]
fn known_key_survives_an_outage_of_a_day() {
    let mut remembered = remembered();
    for (seconds, is_refreshed) in [
        (3_600, true),
        (3_601, false),
        (3_659, false),
        (3_660, true),
        (86_399, true),
    ] {
        let now = at(seconds);
        let searched = search(&mut remembered, "key-1", now);
        assert_eq!(searched == REFRESH, is_refreshed, "{seconds}");
        conclude_refresh(&mut remembered, None, now);
        let found = remembered.find(Some("key-1"), Algorithm::Rs256, now);
        assert!(found.is_ok(), "{seconds}");
    }
    let found = remembered.find(Some("key-1"), Algorithm::Rs256, at(86_400));
    assert_eq!(found, Err(Problem::issuer_unavailable()));
    assert_eq!(search(&mut remembered, "key-1", at(86_400)), FIRST);
}

#[test]
fn cached_response_without_the_key_needs_the_issuer() {
    let reply = |set, is_from_cache| KeySetReply { set, is_from_cache };
    for (kid, needs_issuer) in [(Some("key-1"), false), (Some("key-3"), true), (None, true)] {
        let found = reply(Some(fetched(NOW)), true).needs_issuer(kid);
        assert_eq!(found, needs_issuer);
        assert!(!reply(Some(fetched(NOW)), false).needs_issuer(kid));
        // A cached error must not stay.
        assert!(reply(None, true).needs_issuer(kid));
        assert!(!reply(None, false).needs_issuer(kid));
    }
}

#[test]
fn cached_response_counts_as_at_most_an_hour_old() {
    for (field, seconds) in [
        (None, 0),
        (Some(""), 0),
        (Some("soon"), 0),
        (Some("-1"), 0),
        (Some("0"), 0),
        (Some("59"), 59),
        (Some("3600"), 3_600),
        (Some("999999999"), 3_600),
    ] {
        assert_eq!(read_age(field), Millis::from_seconds(seconds), "{field:?}");
    }
    // The oldest cached set is usable, but refreshed immediately.
    let mut remembered = RememberedSet::default();
    assert_eq!(search(&mut remembered, "key-1", at(3_600)), FIRST);
    conclude(&mut remembered, Some(fetched(NOW)), "key-1", at(3_600));
    assert_eq!(search(&mut remembered, "key-1", at(3_600)), REFRESH);
    assert!(is_found(&search(&mut remembered, "key-1", at(3_600))));
}

#[test]
fn late_older_key_set_never_replaces_a_newer_one() {
    let mut remembered = remembered();
    let older = KeySet::read(&key_set(&[]), Millis(NOW.0 - 1)).unwrap();
    conclude(&mut remembered, Some(older), "key-9", NOW);
    assert!(is_found(&search(&mut remembered, "key-1", NOW)));
}

#[test]
fn added_key_is_found_immediately() {
    let mut remembered = RememberedSet::default();
    let old = KeySet::read(&key_set(&[rsa_key()]), NOW).unwrap();
    assert_eq!(search(&mut remembered, "key-1", NOW), FIRST);
    conclude(&mut remembered, Some(old), "key-1", NOW);
    // A search that finds its key does not delay the next one.
    let by_new = |remembered: &mut RememberedSet, now| {
        search_for(remembered, Some("key-2"), Algorithm::Es256, now)
    };
    assert_eq!(by_new(&mut remembered, at(1)), SEARCH);
    let new = Some(fetched(at(1)));
    let (reason, algorithm) = (FetchReason::Search, Algorithm::Es256);
    remembered.conclude(reason, new, Some("key-2"), algorithm, at(1));
    assert!(is_found(&by_new(&mut remembered, at(2))));
    assert_eq!(search(&mut remembered, "key-3", at(2)), SEARCH);
}

/// An issuer that names no keys may replace its key at any time.
#[test]
fn key_without_a_kid_is_looked_up_once_a_minute() {
    let unnamed = |now| {
        let key = change(rsa_key(), "kid", None);
        KeySet::read(&key_set(&[key]), now).unwrap()
    };
    for kid in [None, Some("key-1")] {
        let mut remembered = RememberedSet::default();
        for minute in [0, 1, 2] {
            let now = at(minute * 60);
            let expected = if minute == 0 { FIRST } else { SEARCH };
            assert_eq!(search(&mut remembered, kid, now), expected, "{minute}");
            if minute > 0 {
                // Other callers use the cached key during the search.
                assert!(is_found(&search(&mut remembered, kid, now)));
            }
            conclude(&mut remembered, Some(unnamed(now)), kid, now);
            for seconds in [1, 59] {
                let now = at(minute * 60 + seconds);
                assert!(is_found(&search(&mut remembered, kid, now)));
            }
        }
    }
}

#[test]
fn unusable_key_is_not_looked_up_repeatedly() {
    let mut remembered = RememberedSet::default();
    let weak = change(rsa_key(), "n", Some(json!(modulus(1024))));
    let set = KeySet::read(&key_set(&[weak]), NOW).unwrap();
    assert_eq!(search(&mut remembered, "key-1", NOW), FIRST);
    conclude(&mut remembered, Some(set), "key-1", NOW);
    for seconds in [0, 1, 59] {
        let reason = invalid_token("the issuer's key is too short");
        let found = search(&mut remembered, "key-1", at(seconds));
        assert_eq!(found, Search::Found(Err(reason)));
    }
    assert_eq!(search(&mut remembered, "key-1", at(60)), SEARCH);
}
