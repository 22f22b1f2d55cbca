pub mod schedule;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod store;
pub mod views;

use quillgate::encode::percent_encode;
use quillgate::parameters::ParameterGroup as _;
use quillgate::text::MAX_SAFE_INTEGER;
use quillgate::{
    Call, Cursor, DateBound, Day, DayGroup, Millis, PagePath, PathPrefix, SeriesPageSize,
};
use serde::{Deserialize as _, Deserializer, Serialize};
use serde_json::json;

use crate::analytics::analytics_settings::ArchiveSettings;
use crate::analytics::archive::schedule::{DayRecord, Estimate, ProjectRecord, is_settled};
use crate::http::gateway_rule::GatewayRule;
use crate::http::problem::Problem;
use crate::json;

const MAX_RANGE: u32 = 3_660;
/// Approximate. D1 bills a row again when a query groups it.
pub(crate) const MAX_ROWS_READ: u64 = 400_000;
pub const MAX_COUNTS: u64 = MAX_ROWS_READ / 2;
const MAX_FAILURES: usize = 100;
/// After encoding. Visitors can request paths of any length.
pub const MAX_PATH_BYTES: usize = 1024;
const CUT: &str = "…";

/// Paths are in the form of [`store_path`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    Site,
    /// The site, on the days whose pages are stored.
    AllPages,
    Page(String),
    /// This path and all paths below it.
    Prefix(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeriesQuery {
    pub subject: Subject,
    pub group: DayGroup,
    pub from: Day,
    /// Exclusive.
    pub to: Day,
    /// Another page starts at `to`.
    pub has_more: bool,
}

impl SeriesQuery {
    pub fn read(call: &Call) -> Result<Self, Problem> {
        let (begin, end) = read_range(call)?;
        let group = Option::<DayGroup>::read(call)?.unwrap_or(DayGroup::Day);
        let from = Option::<Cursor>::read(call)?
            .map_or(Ok(begin), |cursor| read_cursor(&cursor, group, begin, end))?;
        let limit = Option::<SeriesPageSize>::read(call)?.unwrap_or(SeriesPageSize::DEFAULT);
        let to = (0..limit.get()).fold(from, |to, _| group.end_of(to).min(end));
        Ok(Self {
            subject: read_subject(call)?,
            group,
            from,
            to,
            has_more: to < end,
        })
    }

    /// Ends this page before the group of `day`, whose rows were not all read, or returns a 400
    /// problem if the page would be empty.
    pub fn end_before(&mut self, day: Day) -> Result<(), Problem> {
        self.to = self.group.begin_of(day);
        self.has_more = true;
        if self.to > self.from {
            return Ok(());
        }
        let detail = format!(
            "prefix has more than {MAX_COUNTS} stored counts of pages in one period: choose a \
                shorter group or a longer prefix"
        );
        Err(Problem::field("prefix", GatewayRule::LargestGroup, &detail))
    }
}

fn read_range(call: &Call) -> Result<(Day, Day), Problem> {
    let (begin, end) = (read_day(call, "dateFrom")?, read_day(call, "dateTo")?);
    if end.since(begin) > MAX_RANGE {
        let detail = "dateTo must be at most 3660 days after dateFrom";
        return Err(Problem::field("dateTo", GatewayRule::LongestRange, detail));
    }
    Ok((begin, end))
}

/// A date without a time, from 1970 on.
pub fn read_day(call: &Call, field: &'static str) -> Result<Day, Problem> {
    let text = call.text(field).unwrap_or("");
    Day::from_text(text).ok_or_else(|| {
        let detail = format!("{field} must be a day, YYYY-MM-DD, without a time");
        Problem::field(field, GatewayRule::Day, &detail)
    })
}

fn read_subject(call: &Call) -> Result<Subject, Problem> {
    let path = Option::<PagePath>::read(call)?;
    let prefix = Option::<PathPrefix>::read(call)?;
    match (path, prefix) {
        (None, None) => Ok(Subject::Site),
        (Some(path), None) => Ok(Subject::Page(store_path(path.as_str()))),
        (None, Some(prefix)) => {
            let prefix = prefix.as_str();
            if prefix == "/" || (prefix.starts_with('/') && !prefix.ends_with('/')) {
                return Ok(Subject::Prefix(store_path(prefix)));
            }
            let detail = "prefix must be / or whole path segments with a leading slash and no trailing one, such as /guides";
            Err(Problem::field("prefix", GatewayRule::Prefix, detail))
        }
        (Some(_), Some(_)) => {
            let detail = "path and prefix must not be combined";
            Err(Problem::field("prefix", GatewayRule::NotWithPath, detail))
        }
    }
}

/// Percent-encodes control characters. A path that is too long is cut, so paths with an equal start
/// are counted together.
pub fn store_path(path: &str) -> String {
    let mut stored = String::with_capacity(path.len());
    for c in path.chars() {
        if c.is_control() {
            stored.push_str(&percent_encode(c.encode_utf8(&mut [0; 4])));
        } else {
            stored.push(c);
        }
    }
    if stored.len() > MAX_PATH_BYTES {
        stored.truncate(stored.floor_char_boundary(MAX_PATH_BYTES - CUT.len()));
        stored.push_str(CUT);
    }
    stored
}

/// The first day of a later page is also the first day of a group.
fn read_cursor(cursor: &Cursor, group: DayGroup, begin: Day, end: Day) -> Result<Day, Problem> {
    let is_begin = |day: &Day| begin < *day && *day < end && group.begin_of(*day) == *day;
    let day = Day::from_text(cursor.as_str()).filter(is_begin);
    day.ok_or_else(refuse_cursor)
}

fn refuse_cursor() -> Problem {
    let detail = "cursor must be the nextCursor of an earlier page";
    Problem::field("cursor", GatewayRule::Cursor, detail)
}

/// `None` is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Counts {
    pub human: Option<u64>,
    pub ai: Option<u64>,
    /// Mintlify's total of people and AI.
    pub total: Option<u64>,
}

/// Anything but an integer from 0 to 2^53 − 1 is unknown, so that an odd count never ends a report.
#[expect(clippy::unnecessary_wraps, reason = "serde expects a result")]
pub(crate) fn read_count<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<u64>, D::Error> {
    let count = Option::<u64>::deserialize(deserializer).unwrap_or_default();
    Ok(count.filter(|count| *count <= MAX_SAFE_INTEGER))
}

impl Counts {
    pub const ZERO: Self = Self {
        human: Some(0),
        ai: Some(0),
        total: Some(0),
    };

    fn sum(days: &[StoredDay]) -> Self {
        let add = |a: Option<u64>, b: Option<u64>| Some(a?.saturating_add(b?));
        days.iter().fold(Self::ZERO, |sum, day| Self {
            human: add(sum.human, day.views.human),
            ai: add(sum.ai, day.views.ai),
            total: add(sum.total, day.views.total),
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredDay {
    pub day: Day,
    /// The last complete fetch.
    pub fetched: Millis,
    /// For a prefix, a day can have two entries, which [`write_series`] adds: the page at that
    /// path, and the pages below.
    pub views: Counts,
    /// `None` for a page or a prefix.
    pub visitors: Option<Counts>,
}

/// `stored` is in ascending order.
pub fn write_series(query: &SeriesQuery, stored: &[StoredDay]) -> String {
    let mut groups = Vec::new();
    let mut rest = stored;
    let mut begin = query.from;
    while begin < query.to {
        let end = query.group.end_of(begin).min(query.to);
        let parts;
        (parts, rest) = rest.split_at(rest.partition_point(|part| part.day < end));
        if let Some(last) = parts.last() {
            let views = Counts::sum(parts);
            let missing = missing_days(begin, end, parts);
            groups.push(json!({
                "date": query.group.begin_of(begin).to_text(),
                "human": views.human,
                "ai": views.ai,
                "total": views.total,
                "days": end.since(begin) as usize - missing.len(),
                "missing": missing,
                "visitors": last.visitors.filter(|_| query.group == DayGroup::Day),
            }));
        }
        begin = end;
    }
    let missing = missing_days(query.from, query.to, stored);
    let next = query.has_more.then(|| query.to.to_text());
    json::to_text(&json!({ "views": groups, "missing": missing, "nextCursor": next }))
}

fn missing_days(from: Day, to: Day, stored: &[StoredDay]) -> Vec<String> {
    let is_missing = |day: &Day| stored.binary_search_by_key(day, |part| part.day).is_err();
    let missing = from.until(to).filter(is_missing);
    missing.map(Day::to_text).collect()
}

/// Every day of the query is stored, and no day will be fetched again.
pub fn is_final(query: &SeriesQuery, stored: &[StoredDay], recheck_days: u32) -> bool {
    let is_settled = |part: &&StoredDay| is_settled(part.day, part.fetched, recheck_days);
    let settled = stored.iter().filter(is_settled);
    let mut days: Vec<_> = settled.map(|part| part.day).collect();
    days.dedup();
    days.len() == query.to.since(query.from) as usize
}

/// The archive deletes earlier days.
pub fn first_retained(settings: &ArchiveSettings, now: Millis) -> Day {
    Day::of(now).minus(settings.retention_days)
}

fn completion_time(estimate: Estimate, now: Millis) -> Option<String> {
    let hours = estimate.hours?;
    let instant = now.plus(Millis::from_seconds(hours.saturating_mul(3600)));
    Some(DateBound::from_instant(instant).as_str().to_owned())
}

pub fn write_status(
    record: &ProjectRecord,
    bytes: Option<u64>,
    settings: &ArchiveSettings,
    now: Millis,
) -> String {
    let today = Day::of(now);
    let (mut complete, mut partial, mut failed) = (0_u32, 0_u32, 0_u32);
    let mut missing: Vec<(Day, Day)> = Vec::new();
    for (day, known) in record.days_before(today) {
        match known {
            Some(known) if known.fetched.is_some() => {
                complete += 1;
                continue;
            }
            Some(known) if known.failures() > 0 => failed += 1,
            Some(_) => partial += 1,
            None => {}
        }
        match missing.last_mut() {
            Some((_, end)) if *end == day => *end = day.next(),
            _ => missing.push((day, day.next())),
        }
    }
    let to_range =
        |(from, to): &(Day, Day)| json!({ "dateFrom": from.to_text(), "dateTo": to.to_text() });
    let to_failure = |known: &DayRecord| {
        json!({
            "date": known.day.to_text(),
            "attempts": known.attempts,
            "retryAt": DateBound::from_instant(known.retry_at).as_str(),
            "problem": known.problem,
        })
    };
    let failing = record.days.iter().filter(|known| known.failures() > 0);
    let (_, estimate) = record.estimate(settings, now);
    json::to_text(&json!({
        "dateFrom": record.first.to_text(),
        "dateTo": today.to_text(),
        "complete": complete,
        "partial": partial,
        "failed": failed,
        "missing": missing.iter().map(to_range).collect::<Vec<_>>(),
        "failures": failing.take(MAX_FAILURES).map(to_failure).collect::<Vec<_>>(),
        "requests": estimate.requests,
        "hours": estimate.hours,
        "completeAt": completion_time(estimate, now),
        "bytes": bytes,
    }))
}

/// Returns the new first day, within the retention, and the body of the estimate.
pub fn plan_backfill(
    mut record: ProjectRecord,
    from: Day,
    settings: &ArchiveSettings,
    now: Millis,
) -> (Day, String) {
    let first = from.max(first_retained(settings, now)).min(record.first);
    record.first = first;
    let (gaps, estimate) = record.estimate(settings, now);
    let body = json::to_text(&json!({
        "dateFrom": first.to_text(),
        "days": gaps,
        "requests": estimate.requests,
        "hours": estimate.hours,
        "completeAt": completion_time(estimate, now),
    }));
    (first, body)
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct ArchiveRun {
    /// Immediate retries do not count.
    pub requests: u64,
    /// Failed, unsent, unusable or unstorable parts.
    pub failures: u64,
    pub days: u64,
    pub milliseconds: u64,
}
