//! What an isolate or an object remembers: values by key, bounded in number and in bytes.

use std::any::Any;
use std::collections::{HashMap, VecDeque};
use std::marker::PhantomData;
use std::rc::Rc;

use quillgate::Millis;

/// Values by key, each kept until an instant; the oldest make room for new ones.
///
/// How many bytes a value has is up to whoever inserts it; those of its key are added.
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
    entries: UntypedCache,
    kind: PhantomData<V>,
}

impl<V: 'static> BoundedCache<V> {
    /// An empty cache for at most this many entries and bytes.
    #[must_use]
    pub fn new(max_entries: usize, max_bytes: usize) -> Self {
        Self {
            entries: UntypedCache::new(max_entries, max_bytes),
            kind: PhantomData,
        }
    }

    /// The value of a key, until its instant.
    #[must_use]
    pub fn get(&self, key: &str, now: Millis) -> Option<&V> {
        self.entries.get(key, now)?.downcast_ref()
    }

    /// Keeps a value until an instant. One that is larger than the whole cache is not kept.
    pub fn insert(&mut self, key: &str, value: V, bytes: usize, until: Millis) {
        self.entries.insert(key, Box::new(value), bytes, until);
    }

    /// Removes everything.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// How many entries there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.by_key.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many bytes the entries and their keys have.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.entries.bytes
    }
}

/// A cache of values of any type: a map for each type would be in the wasm each time.
#[derive(Debug)]
struct UntypedCache {
    by_key: HashMap<Rc<str>, Entry>,
    /// The keys from the oldest on, each with the number of its entry. Once an entry has been
    /// replaced or removed, its key has another number, or none.
    order: VecDeque<(u64, Rc<str>)>,
    next: u64,
    bytes: usize,
    max_entries: usize,
    max_bytes: usize,
}

#[derive(Debug)]
struct Entry {
    value: Box<dyn Any>,
    number: u64,
    bytes: usize,
    until: Millis,
}

impl UntypedCache {
    fn new(max_entries: usize, max_bytes: usize) -> Self {
        Self {
            by_key: HashMap::new(),
            order: VecDeque::new(),
            next: 0,
            bytes: 0,
            max_entries,
            max_bytes,
        }
    }

    fn get(&self, key: &str, now: Millis) -> Option<&dyn Any> {
        let entry = self.by_key.get(key)?;
        (now < entry.until).then_some(&*entry.value)
    }

    fn insert(&mut self, key: &str, value: Box<dyn Any>, bytes: usize, until: Millis) {
        self.remove(key);
        let bytes = bytes.saturating_add(key.len());
        if bytes > self.max_bytes {
            return;
        }
        let key: Rc<str> = key.into();
        let number = self.next;
        self.next += 1;
        self.bytes += bytes;
        self.order.push_back((number, Rc::clone(&key)));
        self.by_key.insert(
            key,
            Entry {
                value,
                number,
                bytes,
                until,
            },
        );
        while self.by_key.len() > self.max_entries || self.bytes > self.max_bytes {
            self.remove_oldest();
        }
        self.compact();
    }

    fn remove(&mut self, key: &str) {
        if let Some(entry) = self.by_key.remove(key) {
            self.bytes -= entry.bytes;
        }
    }

    fn clear(&mut self) {
        self.by_key.clear();
        self.order.clear();
        self.bytes = 0;
    }

    fn remove_oldest(&mut self) {
        let Some((number, key)) = self.order.pop_front() else {
            return;
        };
        if self.is_current(number, &key) {
            self.remove(&key);
        }
    }

    fn is_current(&self, number: u64, key: &str) -> bool {
        let entry = self.by_key.get(key);
        entry.is_some_and(|entry| entry.number == number)
    }

    /// Drops the numbers of entries that no longer exist, once there are more of them.
    fn compact(&mut self) {
        if self.order.len() <= 2 * self.by_key.len() + 16 {
            return;
        }
        let by_key = &self.by_key;
        self.order
            .retain(|(number, key)| by_key.get(key).is_some_and(|entry| entry.number == *number));
    }
}
