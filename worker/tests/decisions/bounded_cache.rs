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
