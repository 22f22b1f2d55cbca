//! A cache with a limited number and size of entries, which expire.

use lru::LruCache;
use quillgate::Millis;

/// A cache that evicts the oldest entries first. The size of a key counts too.
///
/// ```
/// use quillgate::Millis;
/// use quillgate_worker::bounded_cache::BoundedCache;
///
/// let mut cache = BoundedCache::new(10, 1_000);
/// cache.insert("a", 1, 100, Millis(50));
/// assert_eq!(cache.get("a", Millis(49)), Some(&1));
/// assert_eq!(cache.get("a", Millis(50)), None);
/// ```
#[derive(Debug)]
pub struct BoundedCache<V> {
    /// Oldest first. `peek` does not change the order.
    entries: LruCache<Box<str>, Entry<V>>,
    bytes: usize,
    max_entries: usize,
    max_bytes: usize,
}

#[derive(Debug)]
struct Entry<V> {
    value: V,
    bytes: usize,
    expires: Millis,
}

impl<V> BoundedCache<V> {
    /// Creates an empty cache for at most this many entries and bytes.
    pub fn new(max_entries: usize, max_bytes: usize) -> Self {
        Self {
            entries: LruCache::unbounded(),
            bytes: 0,
            max_entries,
            max_bytes,
        }
    }

    /// Returns the value of a key that has not expired.
    pub fn get(&self, key: &str, now: Millis) -> Option<&V> {
        let entry = self.entries.peek(key)?;
        (now < entry.expires).then_some(&entry.value)
    }

    /// Stores a value. One larger than the whole cache only removes the previous value of the key.
    pub fn insert(&mut self, key: &str, value: V, bytes: usize, expires: Millis) {
        if let Some(replaced) = self.entries.pop(key) {
            self.bytes -= replaced.bytes;
        }
        let bytes = bytes.saturating_add(key.len());
        if bytes > self.max_bytes {
            return;
        }
        self.bytes += bytes;
        let entry = Entry {
            value,
            bytes,
            expires,
        };
        self.entries.put(key.into(), entry);
        while self.entries.len() > self.max_entries || self.bytes > self.max_bytes {
            let Some((_, evicted)) = self.entries.pop_lru() else {
                return;
            };
            self.bytes -= evicted.bytes;
        }
    }

    /// Keeps the entries for which `is_kept` returns `true`. Returns whether any were removed.
    pub fn retain(&mut self, mut is_kept: impl FnMut(&str, &V) -> bool) -> bool {
        let before = self.entries.len();
        let bytes = &mut self.bytes;
        self.entries.retain(|key, entry| {
            let is_kept = is_kept(key, &entry.value);
            *bytes -= if is_kept { 0 } else { entry.bytes };
            is_kept
        });
        self.entries.len() < before
    }

    /// Removes every entry.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.bytes = 0;
    }

    /// Returns the number of entries.
    pub fn count(&self) -> usize {
        self.entries.len()
    }

    /// Returns the total size of all values and their keys, in bytes.
    pub const fn bytes(&self) -> usize {
        self.bytes
    }
}
