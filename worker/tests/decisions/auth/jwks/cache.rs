//! Cached key sets.

use quillgate::Millis;
use quillgate_worker::auth::jwks::{
    Algorithm, KeySet, KeySource, Lookup, LookupReason, NoKey, RememberedSet, Search,
};
use serde_json::json;

use crate::fixtures::{NOW, at, change, ec_key, key_set, modulus, rsa_key};

const UNKNOWN_KID: &str = "the access token's kid is not one of its issuer's keys";

/// Returns a key set with the keys `key-1` and `key-2`, fetched at `now`.
fn fetched(now: Millis) -> KeySet {
    KeySet::read(key_set(&[rsa_key(), ec_key()]), now).unwrap()
}

/// Returns a key source whose set was fetched at [`NOW`].
fn source() -> KeySource {
    let mut source = KeySource::default();
    assert_eq!(source.look_up(Some("key-1"), false, NOW), Lookup::Fetch);
    source.set = Some(fetched(NOW));
    source
}

#[test]
fn key_set_is_fresh_for_an_hour() {
    let mut source = source();
    for seconds in [0, 1, 3599] {
        for kid in ["key-1", "key-2"] {
            assert_eq!(source.look_up(Some(kid), false, at(seconds)), Lookup::Use);
        }
    }
    assert_eq!(
        source.look_up(Some("key-1"), false, at(3600)),
        Lookup::Fetch
    );
    source.set = Some(fetched(at(3600)));
    assert_eq!(source.look_up(Some("key-1"), false, at(7199)), Lookup::Use);
}

#[test]
fn stale_key_set_is_used_while_the_fetch_fails() {
    let mut source = source();
    for (seconds, expected) in [
        (3600, Lookup::Fetch),
        (3601, Lookup::Use),
        (3659, Lookup::Use),
        (3660, Lookup::Fetch),
        (3719, Lookup::Use),
        (86_400, Lookup::Fetch),
    ] {
        assert_eq!(
            source.look_up(Some("key-1"), false, at(seconds)),
            expected,
            "{seconds:?}"
        );
        assert!(source.set.is_some(), "{seconds:?}");
    }
}

#[test]
fn missing_key_set_is_fetched_every_ten_seconds() {
    let mut source = KeySource::default();
    for (milliseconds, expected) in [
        (0, Lookup::Fetch),
        (1, Lookup::Use),
        (9_999, Lookup::Use),
        (10_000, Lookup::Fetch),
        (19_999, Lookup::Use),
        (20_000, Lookup::Fetch),
    ] {
        let now = NOW.plus(Millis(milliseconds));
        assert_eq!(
            source.look_up(Some("key-1"), false, now),
            expected,
            "{milliseconds:?}"
        );
    }
}

#[test]
fn missing_key_is_looked_up_once_a_minute() {
    let mut source = source();
    assert_eq!(source.look_up(Some("key-3"), false, at(1)), Lookup::Fetch);
    for seconds in [1, 2, 60] {
        for kid in ["key-3", "key-4", ""] {
            assert_eq!(source.look_up(Some(kid), false, at(seconds)), Lookup::Use);
        }
    }
    assert_eq!(source.look_up(Some("key-4"), false, at(61)), Lookup::Fetch);
    // During the fetch, the keys in the set remain usable.
    assert_eq!(source.look_up(Some("key-1"), false, at(61)), Lookup::Use);
}

#[test]
fn callers_wait_for_the_fetch_in_progress() {
    let mut source = KeySource::default();
    assert_eq!(source.look_up(Some("key-1"), false, NOW), Lookup::Fetch);
    assert_eq!(source.look_up(Some("key-1"), true, NOW), Lookup::Fetch);
    assert_eq!(source.look_up(Some("key-9"), true, at(5)), Lookup::Fetch);
    source.set = Some(fetched(at(5)));
    assert_eq!(source.look_up(Some("key-1"), true, at(6)), Lookup::Use);
    assert_eq!(source.look_up(Some("key-9"), true, at(6)), Lookup::Fetch);
    assert_eq!(source.look_up(Some("key-9"), false, at(7)), Lookup::Use);
}

/// Returns unknown key ids and the times to look them up: one every 26 ms for a minute.
fn random_kids() -> impl Iterator<Item = (String, Millis)> {
    (0..2_300).map(|number| (format!("random-{number}"), NOW.plus(Millis(number * 26))))
}

#[test]
fn cached_key_set_is_used_for_at_most_a_day() {
    let mut source = KeySource::from_stored(fetched(NOW));
    assert_eq!(source.look_up(Some("key-1"), false, at(3599)), Lookup::Use);
    assert_eq!(
        source.look_up(Some("key-1"), false, at(86_399)),
        Lookup::Fetch
    );
    assert!(fetched(NOW).is_usable(at(86_399)));
    assert!(!fetched(NOW).is_usable(at(86_400)));
    // From then on, the set counts as missing. It is fetched every ten seconds.
    assert_eq!(
        source.look_up(Some("key-1"), false, at(86_409)),
        Lookup::Fetch
    );
    assert_eq!(
        source.look_up(Some("key-1"), false, at(86_418)),
        Lookup::Use
    );
    assert_eq!(
        source.look_up(Some("key-1"), false, at(86_419)),
        Lookup::Fetch
    );
}

const UNAVAILABLE: Search = Search::Found(Err(NoKey::Unavailable));
const SEARCH: Search = Search::Ask(LookupReason::Search);

fn unknown() -> Search {
    Search::Found(Err(NoKey::Unusable(UNKNOWN_KID)))
}

fn search<'a>(
    remembered: &mut RememberedSet,
    kid: impl Into<Option<&'a str>>,
    now: Millis,
) -> Search {
    remembered.search(kid.into(), Algorithm::Rs256, now)
}

fn conclude<'a>(
    remembered: &mut RememberedSet,
    set: Option<KeySet>,
    kid: impl Into<Option<&'a str>>,
    now: Millis,
) {
    remembered.conclude(LookupReason::Search, set, kid.into(), Algorithm::Rs256, now);
}

fn is_found(search: &Search) -> bool {
    matches!(search, Search::Found(Ok(_)) | Search::FoundAndRefresh(_))
}

/// Returns the key set that an isolate received at [`NOW`], when it searched for `key-1`.
fn remembered() -> RememberedSet {
    let mut remembered = RememberedSet::default();
    assert_eq!(search(&mut remembered, "key-1", NOW), SEARCH);
    conclude(&mut remembered, Some(fetched(NOW)), "key-1", NOW);
    remembered
}

#[test]
fn random_kids_cause_one_object_call_a_minute() {
    // The limit applies whether or not the issuer's keys are available.
    for is_available in [false, true] {
        let mut remembered = RememberedSet::default();
        let mut calls = 0;
        for (kid, now) in random_kids() {
            if search(&mut remembered, &*kid, now) == SEARCH {
                calls += 1;
                let set = is_available.then(|| fetched(now));
                conclude(&mut remembered, set, &*kid, now);
            }
            let own = search(&mut remembered, "key-1", now);
            assert_eq!(is_found(&own), is_available);
        }
        assert_eq!(calls, 1, "{is_available}");
    }
}

#[test]
fn only_unknown_keys_wait_for_the_call_in_progress() {
    let mut remembered = remembered();
    assert_eq!(search(&mut remembered, "random-0", at(1)), SEARCH);
    for (kid, now) in random_kids() {
        let now = now.plus(Millis(1_000));
        assert_eq!(search(&mut remembered, &*kid, now), Search::Wait);
        assert!(is_found(&search(&mut remembered, "key-1", now)));
    }
    // If the call never finishes, another call starts a minute later.
    assert_eq!(search(&mut remembered, "random-1", at(61)), SEARCH);
    conclude(&mut remembered, None, "random-1", at(62));
    assert_eq!(search(&mut remembered, "random-2", at(62)), unknown());
}

#[test]
fn missing_key_set_causes_one_call_a_minute() {
    let mut remembered = RememberedSet::default();
    for minute in 0..3 {
        let begun = at(minute * 60);
        assert_eq!(search(&mut remembered, "key-1", begun), SEARCH);
        assert_eq!(search(&mut remembered, "key-1", begun), Search::Wait);
        conclude(&mut remembered, None, "key-1", at(minute * 60 + 5));
        for seconds in [5, 59] {
            let now = at(minute * 60 + seconds);
            assert_eq!(search(&mut remembered, "key-1", now), UNAVAILABLE);
        }
    }
}

#[test]
fn known_key_is_refreshed_once_a_minute_in_the_background() {
    let mut remembered = remembered();
    for seconds in [0, 1, 59] {
        let found = search(&mut remembered, "key-1", at(seconds));
        assert!(matches!(found, Search::Found(Ok(_))));
    }
    for minute in 1..59 {
        let found = search(&mut remembered, "key-1", at(minute * 60));
        assert!(matches!(found, Search::FoundAndRefresh(_)));
        let found = search(&mut remembered, "key-1", at(minute * 60 + 1));
        assert!(matches!(found, Search::Found(Ok(_))));
    }
    // A key that was removed from the set causes one search, and is then unknown until the pause
    // ends.
    let empty = KeySet::read(key_set(&[]), at(3_600)).unwrap();
    remembered.conclude(
        LookupReason::Refresh,
        Some(empty),
        Some("key-1"),
        Algorithm::Rs256,
        at(3_600),
    );
    assert_eq!(search(&mut remembered, "key-1", at(3_600)), SEARCH);
    conclude(&mut remembered, None, "key-1", at(3_600));
    assert_eq!(search(&mut remembered, "key-1", at(3_601)), unknown());
}

#[test]
fn known_key_survives_an_object_outage_of_a_day() {
    let mut remembered = remembered();
    let refresh = Search::Ask(LookupReason::Refresh);
    // After an hour, the first caller waits for the object, which does not respond.
    assert_eq!(search(&mut remembered, "key-1", at(3_600)), refresh);
    for now in [at(3_600), at(3_659)] {
        remembered.conclude(
            LookupReason::Refresh,
            None,
            Some("key-1"),
            Algorithm::Rs256,
            now,
        );
        assert!(is_found(&search(&mut remembered, "key-1", now)));
    }
    assert_eq!(search(&mut remembered, "key-1", at(86_399)), refresh);
    assert!(
        remembered
            .find(Some("key-1"), Algorithm::Rs256, at(86_399))
            .is_ok()
    );
    let found = remembered.find(Some("key-1"), Algorithm::Rs256, at(86_400));
    assert_eq!(found, Err(NoKey::Unavailable));
    assert_eq!(search(&mut remembered, "key-1", at(86_400)), SEARCH);
}

#[test]
fn late_older_key_set_never_replaces_a_newer_one() {
    let mut remembered = remembered();
    let older = KeySet::read(key_set(&[]), Millis(NOW.0 - 1)).unwrap();
    conclude(&mut remembered, Some(older), "key-9", NOW);
    assert!(is_found(&search(&mut remembered, "key-1", NOW)));
}

#[test]
fn added_key_is_found_immediately() {
    let mut remembered = RememberedSet::default();
    let old = KeySet::read(key_set(&[rsa_key()]), NOW).unwrap();
    assert_eq!(search(&mut remembered, "key-1", NOW), SEARCH);
    conclude(&mut remembered, Some(old), "key-1", NOW);
    // A search that finds its key does not delay the next one.
    let by_new = |remembered: &mut RememberedSet, now| {
        remembered.search(Some("key-2"), Algorithm::Es256, now)
    };
    assert_eq!(by_new(&mut remembered, at(1)), SEARCH);
    assert_eq!(by_new(&mut remembered, at(1)), Search::Wait);
    let new = Some(fetched(at(1)));
    remembered.conclude(
        LookupReason::Search,
        new,
        Some("key-2"),
        Algorithm::Es256,
        at(1),
    );
    assert!(is_found(&by_new(&mut remembered, at(2))));
    assert_eq!(search(&mut remembered, "key-3", at(2)), SEARCH);
}

/// An issuer that names no keys may replace its key at any time.
#[test]
fn key_without_a_kid_is_looked_up_once_a_minute() {
    let unnamed = |now| {
        let key = change(rsa_key(), "kid", None);
        KeySet::read(key_set(&[key]), now).unwrap()
    };
    for kid in [None, Some("key-1")] {
        let mut remembered = RememberedSet::default();
        let mut source = KeySource::default();
        for minute in [0, 1, 2] {
            let now = at(minute * 60);
            assert_eq!(search(&mut remembered, kid, now), SEARCH, "{minute}");
            if minute > 0 {
                // Other callers use the cached key during the search.
                assert!(is_found(&search(&mut remembered, kid, now)));
            }
            assert_eq!(source.look_up(kid, false, now), Lookup::Fetch);
            source.set = Some(unnamed(now));
            conclude(&mut remembered, Some(unnamed(now)), kid, now);
            for seconds in [1, 59] {
                let now = at(minute * 60 + seconds);
                assert!(is_found(&search(&mut remembered, kid, now)));
            }
        }
        assert_eq!(source.look_up(kid, false, at(179)), Lookup::Use);
    }
}

#[test]
fn unusable_key_is_not_looked_up_repeatedly() {
    let mut remembered = RememberedSet::default();
    let weak = change(rsa_key(), "n", Some(json!(modulus(1024))));
    let set = KeySet::read(key_set(&[weak]), NOW).unwrap();
    assert_eq!(search(&mut remembered, "key-1", NOW), SEARCH);
    conclude(&mut remembered, Some(set), "key-1", NOW);
    for seconds in [0, 1, 59] {
        let reason = NoKey::Unusable("the issuer's key is too short");
        let found = search(&mut remembered, "key-1", at(seconds));
        assert_eq!(found, Search::Found(Err(reason)));
    }
    assert_eq!(search(&mut remembered, "key-1", at(60)), SEARCH);
}
