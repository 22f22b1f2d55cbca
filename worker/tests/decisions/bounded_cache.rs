//! The bounded cache. A full cache evicts its oldest entries first. The cache returns a stored
//! entry until the entry expires.

use proptest::prelude::*;
use quillgate::Millis;
use quillgate_worker::bounded_cache::BoundedCache;

use crate::fixtures::{NOW, at};

/// An expiry in the far future.
const LATER: Millis = Millis(u64::MAX);

/// Returns a cache with `keys`. Each value counts as 10 bytes.
fn cache_of(max_entries: usize, max_bytes: usize, keys: &[&str]) -> BoundedCache<String> {
    let mut cache = BoundedCache::new(max_entries, max_bytes);
    for key in keys {
        cache.insert(key, format!("value of {key}"), 10, LATER);
    }
    cache
}

fn kept<'a>(cache: &BoundedCache<String>, keys: &[&'a str]) -> Vec<&'a str> {
    let keys = keys.iter().copied();
    keys.filter(|key| cache.get(key, NOW).is_some()).collect()
}

#[test]
fn empty_cache_finds_no_value() {
    let cache = BoundedCache::<String>::new(10, 100);
    assert_eq!((cache.count(), cache.bytes()), (0, 0));
    assert_eq!(cache.get("a", NOW), None);
}

#[test]
fn oldest_entries_are_evicted_first() {
    let keys = ["a", "b", "c", "d", "e"];
    let cache = cache_of(3, 1_000, &keys);
    assert_eq!(kept(&cache, &keys), ["c", "d", "e"]);
    assert_eq!((cache.count(), cache.bytes()), (3, 33));
}

#[test]
fn key_bytes_count_towards_the_size() {
    let keys = ["a", "b", "c", "d"];
    // Three values count as 30 bytes, or as 33 bytes with their keys.
    for (max_bytes, expected) in [(33, &keys[1..]), (32, &keys[2..]), (30, &keys[2..])] {
        let cache = cache_of(100, max_bytes, &keys);
        assert_eq!(kept(&cache, &keys), expected, "{max_bytes}");
        assert!(cache.bytes() <= max_bytes);
    }
    let long = "k".repeat(90);
    let mut cache = cache_of(100, 100, &["a", "b"]);
    cache.insert(&long, "x".to_owned(), 10, LATER);
    assert_eq!((cache.count(), cache.bytes()), (1, 100));
    assert!(cache.get(&long, NOW).is_some());
}

#[test]
fn value_larger_than_the_cache_is_not_stored() {
    let mut cache = cache_of(10, 100, &["a", "b"]);
    for bytes in [100, 101, usize::MAX] {
        cache.insert("c", "x".to_owned(), bytes, LATER);
        assert_eq!(cache.get("c", NOW), None);
        assert_eq!((cache.count(), cache.bytes()), (2, 22));
    }
    // The value is too large to store, but the previous value is outdated and is removed.
    cache.insert("a", "x".to_owned(), 100, LATER);
    assert_eq!(kept(&cache, &["a", "b"]), ["b"]);
    cache.insert("c", "x".to_owned(), 99, LATER);
    assert_eq!(kept(&cache, &["a", "b", "c"]), ["c"]);
}

#[test]
fn cache_of_size_zero_stores_no_value() {
    for (max_entries, max_bytes) in [(0, 100), (10, 0), (0, 0)] {
        let cache = cache_of(max_entries, max_bytes, &["a", "b"]);
        assert_eq!((cache.count(), cache.bytes()), (0, 0));
    }
}

#[test]
fn entry_is_returned_until_it_expires() {
    let mut cache = BoundedCache::new(10, 100);
    cache.insert("a", 1, 1, at(10));
    for now in [Millis(0), NOW, at(9), Millis(at(10).0 - 1)] {
        assert_eq!(cache.get("a", now), Some(&1));
    }
    for now in [at(10), at(11), LATER] {
        assert_eq!(cache.get("a", now), None);
    }
    cache.insert("a", 2, 1, at(20));
    assert_eq!(cache.get("a", at(10)), Some(&2));
    cache.insert("b", 3, 1, NOW);
    assert_eq!(cache.get("b", NOW), None);
}

#[test]
fn replaced_entry_counts_as_new() {
    let keys = ["a", "b", "c"];
    let mut cache = cache_of(3, 1_000, &keys);
    cache.insert("a", "again".to_owned(), 20, LATER);
    assert_eq!((cache.count(), cache.bytes()), (3, 43));
    cache.insert("d", "x".to_owned(), 10, LATER);
    assert_eq!(kept(&cache, &keys), ["a", "c"]);
    assert_eq!(cache.get("a", NOW).map(String::as_str), Some("again"));
}

/// A simple model of the cache. The entries are in order from oldest to newest.
struct Model {
    entries: Vec<(String, u32, usize, Millis)>,
    max_entries: usize,
    max_bytes: usize,
}

impl Model {
    fn bytes(&self) -> usize {
        self.entries.iter().map(|(_, _, bytes, _)| bytes).sum()
    }

    fn remove(&mut self, key: &str) {
        self.entries.retain(|(own, ..)| own != key);
    }

    fn insert(&mut self, key: &str, value: u32, bytes: usize, until: Millis) {
        self.remove(key);
        let bytes = bytes + key.len();
        if bytes > self.max_bytes {
            return;
        }
        self.entries.push((key.to_owned(), value, bytes, until));
        while self.entries.len() > self.max_entries || self.bytes() > self.max_bytes {
            self.entries.remove(0);
        }
    }

    fn get(&self, key: &str, now: Millis) -> Option<u32> {
        let mut entries = self.entries.iter();
        let (_, value, _, until) = entries.find(|(own, ..)| own == key)?;
        (now < *until).then_some(*value)
    }
}

proptest! {
    #[test]
    fn bounded_cache_matches_its_model_and_stays_within_bounds(
        max_entries in 0..6_usize,
        max_bytes in 0..60_usize,
        steps in prop::collection::vec((0..9_u8, "[a-f]{1,3}", 0..25_usize, 0..100_u64), 0..300),
    ) {
        let mut cache = BoundedCache::new(max_entries, max_bytes);
        let mut model = Model { entries: Vec::new(), max_entries, max_bytes };
        for (value, (step, key, bytes, until)) in (0..).zip(steps) {
            if step == 0 {
                cache.clear();
                model.entries.clear();
            } else {
                cache.insert(&key, value, bytes, Millis(until));
                model.insert(&key, value, bytes, Millis(until));
            }
            prop_assert!(cache.count() <= max_entries && cache.bytes() <= max_bytes);
            prop_assert_eq!((cache.count(), cache.bytes()), (model.entries.len(), model.bytes()));
            for key in model.entries.iter().map(|(key, ..)| key).chain([&key]) {
                for now in [0, 50, until] {
                    let now = Millis(now);
                    prop_assert_eq!(cache.get(key, now).copied(), model.get(key, now));
                }
            }
        }
    }
}
