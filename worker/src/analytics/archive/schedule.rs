//! The schedule of the daily archive. [`plan`] decides which request the archive sends next.
//!
//! The archive stores the views of each finished day. The archive fetches a day in parts: first the
//! visitor totals, then the pages of views in order. [`plan`] chooses missing days first, from the
//! oldest. [`DayRecord`] records the progress and the failures of a day. The archive also fetches
//! recent days again, because Mintlify counts some views late.

use quillgate::pages::MAX_EMPTY_PAGES;
use quillgate::{Day, Millis};

#[cfg(doc)]
use crate::analytics::archive::first_retained;
use crate::analytics::settings::ArchiveSettings;

/// The maximum number of times that the wait after a failure doubles.
const MAX_DOUBLINGS: u32 = 10;

/// The part of a day that one request fetches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// The visitor totals.
    Visitors,
    /// The page of views with this number, counted from 0.
    Views(u64),
}

/// The progress of the archive for one day of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DayRecord {
    /// The archived day, in UTC.
    pub day: Day,
    /// The time of the last complete fetch, if any.
    pub fetched: Option<Millis>,
    /// The number of pages of views in the last complete fetch.
    pub pages: u64,
    /// The next part to fetch.
    pub next: Part,
    /// The number of consecutive empty pages that this run has fetched.
    pub empty_pages: u32,
    /// The number of consecutive failed requests. A stored part resets the number.
    pub attempts: u32,
    /// The earliest time of the next request.
    pub retry_at: Millis,
    /// The problem that the database stored for the last request. `None` if that request succeeded.
    /// A run of the archive stores new problems in the database only.
    pub problem: Option<String>,
    /// The site's totals as JSON. The pages of views contain these totals. `None` before the first
    /// page and after the last. If the totals change between two pages, the fetched pages are
    /// unusable.
    pub totals: Option<String>,
}

impl DayRecord {
    /// Creates the record of a day that was never fetched.
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

    /// Returns the number of consecutive empty pages after one more page. `is_empty` means that the
    /// page has no rows although more pages follow. Returns `None` at [`MAX_EMPTY_PAGES`], because
    /// the list may never end.
    pub fn count_empty_pages(&self, is_empty: bool) -> Option<u32> {
        let count = if is_empty { self.empty_pages + 1 } else { 0 };
        (count < MAX_EMPTY_PAGES).then_some(count)
    }

    /// Records a successful request for the next part. `is_last` means that the day is now
    /// completely fetched.
    pub fn record_part(&mut self, is_last: bool, now: Millis) {
        let pages = match self.next {
            Part::Visitors => 0,
            Part::Views(page) => page + 1,
        };
        self.next = Part::Views(pages);
        self.attempts = 0;
        self.retry_at = Millis(0);
        if is_last {
            self.fetched = Some(now);
            self.pages = pages;
            self.restart();
        }
    }

    /// Records a failed request.
    ///
    /// The next request must wait for `base`. Each further consecutive failure doubles this wait,
    /// at most ten times.
    pub fn record_failure(&mut self, base: Millis, now: Millis) {
        let doublings = self.attempts.min(MAX_DOUBLINGS);
        self.attempts = self.attempts.saturating_add(1);
        let wait = Millis(base.0.saturating_mul(1 << doublings));
        self.retry_at = now.plus(wait);
    }

    /// Restarts the fetch from the first part. A restart is necessary if the staged pages are
    /// unusable, for example because the site's totals changed between two pages.
    pub fn restart(&mut self) {
        self.next = Part::Visitors;
        self.empty_pages = 0;
        self.totals = None;
    }

    /// Returns the reason to fetch the day, or `None` if no fetch is due.
    fn need(&self, recheck_days: u32, now: Millis) -> Option<Need> {
        if now < self.retry_at {
            return None;
        }
        let Some(fetched) = self.fetched else {
            return Some(Need::Gap);
        };
        let is_complete =
            Day::of(fetched) >= Day::of(now) || is_settled(self.day, fetched, recheck_days);
        // If the response to the batch of the last page was lost, the database has both the
        // complete day and the failure. Another fetch removes the failure.
        let is_unfinished = self.attempts > 0 || self.next != Part::Visitors;
        (is_unfinished || !is_complete).then_some(Need::Recheck)
    }
}

/// Returns whether a complete fetch of `day` at time `fetched` is final, so that the day is not
/// fetched again.
pub fn is_settled(day: Day, fetched: Millis, recheck_days: u32) -> bool {
    Day::of(fetched) >= day.next().plus(recheck_days)
}

/// The reason to fetch a day. The order of the variants is the order of the fetches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Need {
    Gap,
    Recheck,
}

/// The progress of the archive for one project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectRecord {
    /// The first day to archive. The first day is never before the day that [`first_retained`]
    /// returns. The last day to archive is yesterday, in UTC.
    pub first: Day,
    /// The days for which at least one request was sent, oldest first.
    pub days: Vec<DayRecord>,
}

impl ProjectRecord {
    /// Creates a project without recorded days. The first day to archive is yesterday.
    pub fn new(now: Millis) -> Self {
        Self {
            first: Day::of(now).minus(1),
            days: Vec::new(),
        }
    }

    /// Iterates over the days to archive before `today`, each with its record. A day that was never
    /// requested has no record.
    pub fn days_before(&self, today: Day) -> impl Iterator<Item = (Day, Option<&DayRecord>)> {
        let begin = self.days.partition_point(|it| it.day < self.first);
        let mut records = self.days[begin..].iter().peekable();
        let days = self.first.until(today);
        days.map(move |day| (day, records.next_if(|record| record.day == day)))
    }

    /// Returns the record of a day. If the day has no record, adds a new record.
    pub fn record_mut(&mut self, day: Day) -> &mut DayRecord {
        let at = self.days.partition_point(|record| record.day < day);
        if self.days.get(at).is_none_or(|record| record.day != day) {
            self.days.insert(at, DayRecord::new(day));
        }
        &mut self.days[at]
    }

    /// Returns the number of missing days, and the estimated cost of fetching these days. Each day
    /// takes one request for visitors, and as many requests for views as the latest stored day has
    /// pages. Without a stored day, the estimate assumes one page per day.
    ///
    /// Each day, the archive also fetches yesterday and fetches stored days again. The estimate
    /// subtracts these daily requests from the budget for missing days.
    ///
    /// # Example
    /// ```
    /// use quillgate::{Day, Millis};
    /// use quillgate_worker::analytics::archive::schedule::{Estimate, ProjectRecord};
    /// use quillgate_worker::analytics::settings::ArchiveSettings;
    ///
    /// let settings = ArchiveSettings {
    ///     projects: Vec::new(),
    ///     limit: 33,
    ///     window: Millis::from_seconds(3600),
    ///     retention_days: 730,
    ///     recheck_days: 3,
    /// };
    /// let now = Day::from_text("2024-04-01").unwrap().begin();
    /// let mut project = ProjectRecord::new(now);
    /// project.first = Day::of(now).minus(90);
    /// let estimate = Estimate { requests: 180, hours: Some(6) };
    /// assert_eq!(project.estimate(&settings, now), (90, estimate));
    /// ```
    pub fn estimate(&self, settings: &ArchiveSettings, now: Millis) -> (u32, Estimate) {
        let is_gap = |record: Option<&DayRecord>| record.is_none_or(|it| it.fetched.is_none());
        let days = self.days_before(Day::of(now));
        let gaps = days.filter(|(_, record)| is_gap(*record)).count();
        let gaps = u32::try_from(gaps).unwrap_or(u32::MAX);
        let latest = self.days.iter().rfind(|record| record.fetched.is_some());
        let per_day = latest.map_or(1, |record| record.pages).saturating_add(1);
        let requests = per_day.saturating_mul(gaps.into());
        let window = settings.window.0.max(1);
        let in_a_day = u64::from(settings.limit).saturating_mul(86_400_000) / window;
        let spent = per_day.saturating_mul(u64::from(settings.recheck_days) + 1);
        let free = in_a_day.saturating_sub(spent);
        let hours = || requests.saturating_mul(24).div_ceil(free);
        let estimate = Estimate {
            requests,
            hours: (requests == 0 || free > 0).then(|| if requests == 0 { 0 } else { hours() }),
        };
        (gaps, estimate)
    }
}

/// The estimated number of requests and hours for fetching the missing days.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Estimate {
    /// The number of requests that fetch the missing days.
    pub requests: u64,
    /// The hours until every missing day is fetched. `None` if days are missing and the daily
    /// requests leave no budget for the missing days.
    pub hours: Option<u64>,
}

/// The target of a request: a part of one day of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Target {
    /// The index of the project in the argument of [`plan`].
    pub project: usize,
    /// The day to fetch, in UTC.
    pub day: Day,
    /// The part of the day to fetch.
    pub part: Part,
}

/// Chooses the next request: the oldest missing day, or else the oldest day that is due to be
/// fetched again. Returns `None` if no request is due.
///
/// Days that are waiting after a failure are skipped. A stored day is fetched again once per day,
/// until a complete fetch takes place more than `recheck_days` days after the stored day.
///
/// # Example
/// ```
/// use quillgate_worker::analytics::archive::schedule::{
///     DayRecord, Part, ProjectRecord, Target, plan,
/// };
/// use quillgate::{Day, Millis};
///
/// let day = Day::from_text("2024-02-28").unwrap();
/// let now = day.next().begin();
/// let mut record = DayRecord::new(day);
/// record.record_part(false, now);
/// let mut project = ProjectRecord::new(now);
/// project.days.push(record);
/// let target = plan([&project], 3, now);
/// assert_eq!(target, Some(Target { project: 0, day, part: Part::Views(0) }));
/// ```
pub fn plan<'a>(
    projects: impl IntoIterator<Item = &'a ProjectRecord>,
    recheck_days: u32,
    now: Millis,
) -> Option<Target> {
    let candidates = projects.into_iter().enumerate();
    let candidates = candidates.flat_map(|(project, record)| {
        let days = record.days_before(Day::of(now));
        days.filter_map(move |(day, record)| {
            let need = record.map_or(Some(Need::Gap), |it| it.need(recheck_days, now))?;
            let part = record.map_or(Part::Visitors, |it| it.next);
            Some((need, Target { project, day, part }))
        })
    });
    let first = candidates.min_by_key(|(need, target)| (*need, target.day));
    first.map(|(_, target)| target)
}
