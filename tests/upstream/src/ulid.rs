//! ULIDs: 48 bits of time and 80 random bits in 26 characters.

use std::fmt;

use crate::clock::Timestamp;
use crate::random::SplitMix64;

/// Crockford's base 32: no I, L, O and U.
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const LENGTH: usize = 26;
const RANDOM_BITS: u32 = 80;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ulid(u128);

impl Ulid {
    pub(crate) fn new(timestamp: Timestamp, random: &mut SplitMix64) -> Self {
        let randomness = u128::from(random.next()) << 16 | u128::from(random.next() & 0xffff);
        Self(u128::from(timestamp.0) << RANDOM_BITS | randomness)
    }

    /// Parses either case. The first character is at most 7, because 26 characters hold 130 bits.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text.len() != LENGTH || text.as_bytes().first()? > &b'7' {
            return None;
        }
        let value = text.bytes().try_fold(0_u128, |value, byte| {
            let digit = ALPHABET
                .iter()
                .position(|letter| *letter == byte.to_ascii_uppercase())?;
            Some(value << 5 | u128::try_from(digit).ok()?)
        });
        value.map(Self)
    }

    pub(crate) fn timestamp(self) -> Option<Timestamp> {
        u64::try_from(self.0 >> RANDOM_BITS).ok().map(Timestamp)
    }
}

impl fmt::Display for Ulid {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = [0; LENGTH];
        let mut rest = self.0;
        for place in text.iter_mut().rev() {
            let digit = usize::try_from(rest & 31).map_err(|_| fmt::Error)?;
            *place = ALPHABET[digit];
            rest >>= 5;
        }
        formatter.write_str(str::from_utf8(&text).map_err(|_| fmt::Error)?)
    }
}
