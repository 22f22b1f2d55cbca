//! The archive fetches each finished day in parts: the visitor totals, then the pages of views in
//! order. It fetches recent days again, because Mintlify counts some views late.

use quillgate::pages::MAX_EMPTY_PAGES;
use quillgate::{Day, Millis};
use serde::{Deserialize, Deserializer};

use crate::analytics::analytics_settings::ArchiveSettings;
#[cfg(doc)]
use crate::analytics::archive::first_retained;

const MAX_DOUBLINGS: u32 = 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(from = "Option<u64>")]
pub enum Part {
    Visitors,
    /// Counted from 0.
    Views(u64),
}

impl From<Option<u64>> for Part {
    fn from(page: Option<u64>) -> Self {
        page.map_or(Self::Visitors, Self::Views)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct DayRecord {
    #[serde(deserialize_with = "read_day")]
    pub day: Day,
    /// The last complete fetch.
    pub fetched: Option<Millis>,
    /// In the last complete fetch.
    pub pages: u64,
    pub next: Part,
    /// Consecutive, in this run.
    #[serde(skip)]
    pub empty_pages: u32,
    pub attempts: u32,
    pub retry_at: Millis,
    /// A run stores new problems in the database only.
    pub problem: Option<String>,
    /// The site's totals as JSON. If they change between two pages, the fetched pages are unusable.
    pub totals: Option<String>,
}

pub(crate) fn read_day<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Day, D::Error> {
    u32::deserialize(deserializer).map(|number| Day::from_number(number.into()))
}

impl DayRecord {
    pub const fn new(day: Day) -> Self {
        Self {
            day,
            fetched: None,
            pages: 0,
            next: Part::Visitors,
            empty_pages: 0,
            attempts: 0,
            retry_at: Millis(0),
            problem: None,
            totals: None,
        }
    }

    /// `is_empty` means no rows although more pages follow. Returns `None` at [`MAX_EMPTY_PAGES`],
    /// because the list may never end.
    pub fn count_empty_pages(&self, is_empty: bool) -> Option<u32> {
        let count = if is_empty { self.empty_pages + 1 } else { 0 };
        (count < MAX_EMPTY_PAGES).then_some(count)
    }

    /// `is_last` completes the day.
    pub fn record_part(&mut self, is_last: bool, now: Millis) {
        let pages = match self.next {
            Part::Visitors => 0,
            Part::Views(page) => page + 1,
        };
        // Visitors are also the first part after a restart, whose failure counts until the day is
        // complete.
        if self.failures() > 0 && self.next != Part::Visitors {
            self.attempts = 0;
        }
        self.next = Part::Views(pages);
        self.retry_at = Millis(0);
        if is_last {
            self.attempts = 0;
            self.fetched = Some(now);
            self.pages = pages;
            self.restart();
        }
    }

    /// The wait is `base`, doubled up to ten times by each further failure of the part, or of the
    /// day if it restarts.
    pub fn record_failure(&mut self, base: Millis, now: Millis) {
        let doublings = self.attempts.min(MAX_DOUBLINGS);
        self.attempts = self.attempts.saturating_add(1);
        let wait = Millis(base.0.saturating_mul(1 << doublings));
        self.retry_at = now.plus(wait);
    }

    /// 0 after a success, also if the attempts of a restarted day still count.
    pub fn failures(&self) -> u32 {
        if self.retry_at == Millis(0) {
            return 0;
        }
        self.attempts
    }

    /// The staged pages are unusable.
    pub fn restart(&mut self) {
        self.next = Part::Visitors;
        self.empty_pages = 0;
        self.totals = None;
    }

    fn need(&self, recheck_days: u32, now: Millis) -> Option<Need> {
        if now < self.retry_at {
            return None;
        }
        let Some(fetched) = self.fetched else {
            return Some(Need::Gap);
        };
        let is_complete =
            Day::of(fetched) >= Day::of(now) || is_settled(self.day, fetched, recheck_days);
        // If the response to the last batch was lost, the database has both the complete day and
        // the failure. Another fetch removes the failure.
        let is_unfinished = self.attempts > 0 || self.next != Part::Visitors;
        (is_unfinished || !is_complete).then_some(Need::Recheck)
    }
}

pub fn is_settled(day: Day, fetched: Millis, recheck_days: u32) -> bool {
    Day::of(fetched) >= day.next().plus(recheck_days)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Need {
    Gap,
    Recheck,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectRecord {
    /// At least [`first_retained`]. The last day is yesterday, in UTC.
    pub first: Day,
    /// Oldest first. A day that was never requested has no record.
    pub days: Vec<DayRecord>,
}

impl ProjectRecord {
    pub fn new(now: Millis) -> Self {
        Self {
            first: Day::of(now).minus(1),
            days: Vec::new(),
        }
    }

    pub fn days_before(&self, today: Day) -> impl Iterator<Item = (Day, Option<&DayRecord>)> {
        let begin = self.days.partition_point(|record| record.day < self.first);
        let mut records = self.days[begin..].iter().peekable();
        let days = self.first.until(today);
        days.map(move |day| (day, records.next_if(|record| record.day == day)))
    }

    pub fn record_mut(&mut self, day: Day) -> &mut DayRecord {
        let at = self.days.partition_point(|record| record.day < day);
        if self.days.get(at).is_none_or(|record| record.day != day) {
            self.days.insert(at, DayRecord::new(day));
        }
        &mut self.days[at]
    }

    /// Each missing day takes one request for visitors, and as many for views as the latest stored
    /// day has pages. The daily fetch of yesterday and of recent days reduces the budget for
    /// missing days.
    pub fn estimate(&self, settings: &ArchiveSettings, now: Millis) -> (u32, Estimate) {
        let is_gap =
            |record: Option<&DayRecord>| record.is_none_or(|known| known.fetched.is_none());
        let days = self.days_before(Day::of(now));
        let gaps = days.filter(|(_, record)| is_gap(*record)).count();
        let gaps = u32::try_from(gaps).unwrap_or(u32::MAX);
        let latest = self.days.iter().rfind(|record| record.fetched.is_some());
        let per_day = latest.map_or(1, |record| record.pages).saturating_add(1);
        let requests = per_day.saturating_mul(gaps.into());
        let window = settings.window.0.max(1);
        let in_a_day = u64::from(settings.limit).saturating_mul(86_400_000) / window;
        let spent = per_day.saturating_mul(u64::from(settings.recheck_days) + 1);
        let hours = match (requests, in_a_day.saturating_sub(spent)) {
            (0, _) => Some(0),
            (_, 0) => None,
            (_, free) => Some(requests.saturating_mul(24).div_ceil(free)),
        };
        (gaps, Estimate { requests, hours })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Estimate {
    pub requests: u64,
    /// `None` if the daily requests leave no budget.
    pub hours: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Target {
    /// In the argument of [`plan`].
    pub project: usize,
    pub day: Day,
    pub part: Part,
}

/// Chooses the oldest missing day, or else the oldest day due to be fetched again: once per day,
/// until `recheck_days` have passed. Days whose latest request failed come last, those with the
/// fewest attempts first.
pub fn plan<'a>(
    projects: impl IntoIterator<Item = &'a ProjectRecord>,
    recheck_days: u32,
    now: Millis,
) -> Option<Target> {
    let projects = projects.into_iter().enumerate();
    let candidates = projects.flat_map(|(project, record)| {
        let days = record.days_before(Day::of(now));
        days.filter_map(move |(day, record)| {
            let need = record.map_or(Some(Need::Gap), |known| known.need(recheck_days, now))?;
            let part = record.map_or(Part::Visitors, |known| known.next);
            let failures = record.map_or(0, DayRecord::failures);
            Some(((failures, need, day), Target { project, day, part }))
        })
    });
    let (_, target) = candidates.min_by_key(|(rank, _)| *rank)?;
    Some(target)
}

/// Prevents concurrent runs. After the lease expires, another run can take the lock.
#[derive(Debug, Default)]
pub struct RunLock {
    last_run: u64,
    held: Option<(RunId, Millis)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunId(u64);

impl RunLock {
    /// A run renews its lock before each request, which takes less time.
    pub const LEASE: Millis = Millis::from_seconds(600);

    pub fn acquire(&mut self, now: Millis) -> Option<RunId> {
        if self.held.is_some_and(|(_, expires)| now < expires) {
            return None;
        }
        self.last_run += 1;
        let run = RunId(self.last_run);
        self.held = Some((run, now.plus(Self::LEASE)));
        Some(run)
    }

    /// Even an expired lease. Returns `false` if the run has lost the lock and must stop.
    #[must_use]
    pub fn renew(&mut self, run: RunId, now: Millis) -> bool {
        let is_held = self.held.is_some_and(|(holder, _)| holder == run);
        if is_held {
            self.held = Some((run, now.plus(Self::LEASE)));
        }
        is_held
    }

    pub fn release(&mut self, run: RunId) {
        self.held = self.held.filter(|(holder, _)| *holder != run);
    }
}
