//! Limits that slide over the last hour.

use std::collections::{HashMap, VecDeque};

use crate::clock::Moment;
use crate::refusal::Refusal;

const HOUR_MS: u64 = 60 * 60 * 1000;

/// At most so many uses in any hour, counted separately for each scope.
pub(crate) struct HourlyLimit {
    uses: usize,
    taken: HashMap<String, VecDeque<Moment>>,
}

impl HourlyLimit {
    pub(crate) fn new(uses: u32) -> Self {
        Self {
            uses: usize::try_from(uses).unwrap_or(usize::MAX),
            taken: HashMap::new(),
        }
    }

    /// Takes one use, unless the last hour's are all taken.
    pub(crate) fn take(&mut self, scope: &str, now: Moment) -> Result<(), Refusal> {
        let taken = self.taken.entry(scope.to_owned()).or_default();
        while taken
            .front()
            .is_some_and(|first| now.since(*first) >= HOUR_MS)
        {
            taken.pop_front();
        }
        if taken.len() >= self.uses {
            return Err(Refusal::RateLimited);
        }
        taken.push_back(now);
        Ok(())
    }

    pub(crate) fn clear(&mut self) {
        self.taken.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_use_comes_back_an_hour_after_it_was_taken() {
        let mut limit = HourlyLimit::new(2);
        assert_eq!(limit.take("a", Moment(0)), Ok(()));
        assert_eq!(limit.take("a", Moment(1000)), Ok(()));
        assert_eq!(
            limit.take("a", Moment(HOUR_MS - 1)),
            Err(Refusal::RateLimited)
        );
        assert_eq!(limit.take("a", Moment(HOUR_MS)), Ok(()));
        assert_eq!(
            limit.take("a", Moment(HOUR_MS + 999)),
            Err(Refusal::RateLimited)
        );
        assert_eq!(limit.take("a", Moment(HOUR_MS + 1000)), Ok(()));
    }

    #[test]
    fn scopes_do_not_share_a_limit() {
        let mut limit = HourlyLimit::new(1);
        assert_eq!(limit.take("a", Moment(0)), Ok(()));
        assert_eq!(limit.take("b", Moment(0)), Ok(()));
        assert_eq!(limit.take("a", Moment(0)), Err(Refusal::RateLimited));
    }
}
