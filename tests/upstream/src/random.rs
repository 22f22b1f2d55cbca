//! A small, reproducible random number generator.

/// `SplitMix64`: one addition and a mix per number.
pub(crate) struct SplitMix64(u64);

impl SplitMix64 {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a separate generator for each name.
    pub(crate) fn named(seed: u64, name: &str) -> Self {
        // FNV-1a
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self(seed ^ hash)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 up to, but not including, `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let end = u64::try_from(last + 1).unwrap_or(u64::MAX);
            items.swap(last, usize::try_from(self.below(end)).unwrap_or(0));
        }
    }

    /// A string with the format of an `ObjectId`: 24 hexadecimal digits.
    pub(crate) fn object_id(&mut self) -> String {
        let (high, low) = (self.next(), self.next());
        format!("{high:016x}{:08x}", low >> 32)
    }

    /// A string with the format of a commit's SHA-1.
    pub(crate) fn sha(&mut self) -> String {
        let (high, middle, low) = (self.next(), self.next(), self.next());
        format!("{high:016x}{middle:016x}{:08x}", low >> 32)
    }

    /// A string with the format of a version 4 UUID.
    pub(crate) fn uuid(&mut self) -> String {
        let (high, low) = (self.next(), self.next());
        format!(
            "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
            high >> 32,
            high >> 16 & 0xffff,
            high & 0xfff,
            low >> 48 & 0x3fff | 0x8000,
            low & 0xffff_ffff_ffff,
        )
    }
}
