use lru::LruCache;
use quillgate::Millis;

/// Evicts the oldest entries first. The size of a key counts, too.
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
    pub fn new(max_entries: usize, max_bytes: usize) -> Self {
        Self {
            entries: LruCache::unbounded(),
            bytes: 0,
            max_entries,
            max_bytes,
        }
    }

    pub fn get(&self, key: &str, now: Millis) -> Option<&V> {
        let entry = self.entries.peek(key)?;
        (now < entry.expires).then_some(&entry.value)
    }

    /// A value larger than the whole cache only removes the previous value of the key.
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

    /// Returns whether any entries were removed.
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

    pub fn clear(&mut self) {
        self.entries.clear();
        self.bytes = 0;
    }

    pub fn count(&self) -> usize {
        self.entries.len()
    }

    /// Includes the keys.
    pub const fn bytes(&self) -> usize {
        self.bytes
    }
}
