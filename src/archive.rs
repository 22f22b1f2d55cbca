//! The plan of a gateway's daily archive: which request comes next.
//!
//! The archive keeps the views of each finished day. A day is fetched in parts: the totals of its
//! visitors, and then its pages of views, one after the other. [`plan`] decides from what is held
//! which part is fetched next, oldest gap first, and [`DayRecord`] says what follows from how that
//! went. Days that are held are fetched again on each of the days after, since what is counted
//! late changes them.

use crate::date::Day;
use crate::millis::Millis;

/// How many times at most the wait after a failure doubles.
const MOST_DOUBLINGS: u32 = 10;

/// A part of a day, which one request fetches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// The totals of its visitors.
    Visitors,
    /// The page of its views with this number, counted from 0.
    Views(u64),
}

/// How far a day was fetched since it was begun.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Whether the totals of its visitors are there.
    pub has_visitors: bool,
    /// How many pages of its views are there.
    pub pages: u64,
}

impl Progress {
    /// The part that comes next.
    #[must_use]
    pub const fn next_part(self) -> Part {
        if self.has_visitors {
            Part::Views(self.pages)
        } else {
            Part::Visitors
        }
    }
}

/// What is known of a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DayRecord {
    /// The day.
    pub day: Day,
    /// When it was last fetched whole; `None` when it never was.
    pub fetched: Option<Millis>,
    /// How many pages of views it had then.
    pub pages: u64,
    /// How far it was fetched since.
    pub progress: Progress,
    /// How many requests for it have failed since one succeeded.
    pub attempts: u32,
    /// Before then it is not asked for.
    pub retry_at: Millis,
}

impl DayRecord {
    /// A day of which nothing is known.
    #[must_use]
    pub const fn new(day: Day) -> Self {
        Self {
            day,
            fetched: None,
            pages: 0,
            progress: Progress {
                has_visitors: false,
                pages: 0,
            },
            attempts: 0,
            retry_at: Millis(0),
        }
    }

    /// Records that its next part has arrived, which is its last one or not.
    pub fn record_part(&mut self, is_last: bool, now: Millis) {
        match self.progress.next_part() {
            Part::Visitors => self.progress.has_visitors = true,
            Part::Views(page) => self.progress.pages = page + 1,
        }
        self.attempts = 0;
        self.retry_at = Millis(0);
        if is_last {
            self.fetched = Some(now);
            self.pages = self.progress.pages;
            self.progress = Progress::default();
        }
    }

    /// Records that a request for it failed: it is not asked for during `base`, and twice as long
    /// after each further failure.
    pub fn record_failure(&mut self, base: Millis, now: Millis) {
        let doublings = self.attempts.min(MOST_DOUBLINGS);
        self.attempts = self.attempts.saturating_add(1);
        let wait = Millis(base.0.saturating_mul(1 << doublings));
        self.retry_at = now.plus(wait);
    }

    /// Begins it again from its first part, since its pages do not belong together: it has grown
    /// in between.
    pub fn restart(&mut self) {
        self.progress = Progress::default();
    }

    /// Whether it is fetched for the first time, fetched again, or left alone.
    fn need(&self, recheck_days: u32, today: Day) -> Option<Need> {
        let Some(fetched) = self.fetched.map(Day::of) else {
            return Some(Need::Gap);
        };
        let is_due = fetched < today && fetched < settles_on(self.day, recheck_days);
        is_due.then_some(Need::Recheck)
    }
}

/// Fetched then or later, a day is not fetched again.
fn settles_on(day: Day, recheck_days: u32) -> Day {
    day.next().plus(recheck_days)
}

/// Whether a day that was fetched whole at an instant is not fetched again.
#[must_use]
pub fn is_settled(day: Day, fetched: Millis, recheck_days: u32) -> bool {
    Day::of(fetched) >= settles_on(day, recheck_days)
}

/// Why a day is fetched: gaps come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Need {
    Gap,
    Recheck,
}

/// What is wanted of a project, and what is held.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// The first day that is wanted; the last is yesterday.
    pub first: Day,
    /// The days of which something is known, in order.
    pub records: &'a [DayRecord],
}

/// The archive's share of the budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// How many requests of it are left.
    pub left: u32,
    /// When there is one more.
    pub next_free: Millis,
}

/// What is planned from.
#[derive(Debug, Clone, Copy)]
pub struct Holdings<'a> {
    /// The projects.
    pub projects: &'a [Wanted<'a>],
    /// On how many days after its first a day is fetched again.
    pub recheck_days: u32,
    /// What is left of the budget.
    pub share: Share,
    /// The present.
    pub now: Millis,
}

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Fetch this.
    Fetch(Target),
    /// Do nothing before then.
    WaitUntil(Millis),
    /// Nothing is wanted before tomorrow.
    Rest,
}

/// What one request fetches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Target {
    /// The place of the project in [`Holdings::projects`].
    pub project: usize,
    /// The day.
    pub day: Day,
    /// The part of the day.
    pub part: Part,
}

/// Decides what is fetched next: of days that are not held the oldest, else of those that are due
/// again the oldest.
///
/// # Example
/// ```
/// use quillgate::archive::{DayRecord, Holdings, Part, Share, Step, Target, Wanted, plan};
/// use quillgate::{Day, Millis};
///
/// let day = Day::from_text("2024-02-28").unwrap();
/// let mut held = DayRecord::new(day);
/// held.record_part(false, day.next().begin());
/// let step = plan(&Holdings {
///     projects: &[Wanted { first: day, records: &[held] }],
///     recheck_days: 3,
///     share: Share { left: 33, next_free: Millis(0) },
///     now: day.next().begin(),
/// });
/// assert_eq!(step, Step::Fetch(Target { project: 0, day, part: Part::Views(0) }));
/// ```
#[must_use]
pub fn plan(holdings: &Holdings<'_>) -> Step {
    let Holdings {
        projects,
        recheck_days,
        share,
        now,
    } = *holdings;
    let today = Day::of(now);
    let mut best: Option<(Need, Target)> = None;
    let mut next_retry: Option<Millis> = None;
    for (project, wanted) in projects.iter().enumerate() {
        for (day, record) in wanted.days(today) {
            let need = record.map_or(Some(Need::Gap), |it| it.need(recheck_days, today));
            let Some(need) = need else { continue };
            let retry_at = record.map_or(Millis(0), |record| record.retry_at);
            if now < retry_at {
                next_retry = Some(next_retry.map_or(retry_at, |next| next.min(retry_at)));
                continue;
            }
            if best.is_none_or(|(known, target)| (need, day) < (known, target.day)) {
                let progress = record.map_or_else(Progress::default, |record| record.progress);
                let target = Target {
                    project,
                    day,
                    part: progress.next_part(),
                };
                best = Some((need, target));
            }
        }
    }
    match (best, next_retry) {
        (Some((_, target)), _) if share.left > 0 => Step::Fetch(target),
        (Some(_), _) => Step::WaitUntil(share.next_free),
        (None, Some(retry_at)) => Step::WaitUntil(retry_at),
        (None, None) => Step::Rest,
    }
}

impl<'a> Wanted<'a> {
    /// The days that are wanted, each with what is known of it.
    pub fn days(self, today: Day) -> impl Iterator<Item = (Day, Option<&'a DayRecord>)> {
        let begin = self.records.partition_point(|it| it.day < self.first);
        let mut records = self.records[begin..].iter().peekable();
        let days = self.first.number()..today.number();
        days.map(move |number| {
            let day = Day::from_number(number.into());
            (day, records.next_if(|record| record.day == day))
        })
    }

    /// How many of the days that are wanted are not held.
    #[must_use]
    pub fn count_gaps(self, today: Day) -> u32 {
        let held = |record: Option<&DayRecord>| record.is_some_and(|it| it.fetched.is_some());
        let gaps = self.days(today).filter(|(_, record)| !held(*record));
        u32::try_from(gaps.count()).unwrap_or(u32::MAX)
    }

    /// How many pages of views a day of the project has, by the day that was fetched last; one when
    /// none is held.
    #[must_use]
    pub fn pages_per_day(self) -> u64 {
        let held = self.records.iter().filter(|it| it.fetched.is_some());
        held.max_by_key(|record| record.day)
            .map_or(1, |record| record.pages)
    }
}

/// What gaps cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Estimate {
    /// How many requests.
    pub requests: u64,
    /// How many hours from now until they are made; `None` when the share of the budget does not
    /// suffice for what each day costs.
    pub hours: Option<u64>,
}

/// The budget as an [`Estimate`] takes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// How many requests the archive may make in any window.
    pub share: u32,
    /// How long a window is.
    pub window: Millis,
    /// On how many days after its first a day is fetched again.
    pub recheck_days: u32,
}

/// Estimates what so many gaps cost, each with `pages` pages of views and one request for its
/// visitors, while each day also costs yesterday and the days that are fetched again.
///
/// # Example
/// ```
/// use quillgate::Millis;
/// use quillgate::archive::{Estimate, Rate, estimate};
///
/// let rate = Rate { share: 33, window: Millis::from_seconds(3600), recheck_days: 3 };
/// assert_eq!(estimate(90, 20, rate), Estimate { requests: 1890, hours: Some(65) });
/// ```
#[must_use]
pub fn estimate(gaps: u32, pages: u64, rate: Rate) -> Estimate {
    let per_day = pages.saturating_add(1);
    let requests = per_day.saturating_mul(gaps.into());
    let window = rate.window.0.max(1);
    let in_a_day = u64::from(rate.share).saturating_mul(86_400_000) / window;
    let spent = per_day.saturating_mul(u64::from(rate.recheck_days) + 1);
    let free = in_a_day.saturating_sub(spent);
    let hours = || requests.saturating_mul(24).div_ceil(free);
    Estimate {
        requests,
        hours: (requests == 0 || free > 0).then(|| if requests == 0 { 0 } else { hours() }),
    }
}
