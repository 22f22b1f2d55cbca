//! Pages of analytics lists. The gateway fetches whole pages of [`PAGE_ROWS`] rows, because the
//! budget counts requests: one page holds ten reports of 25 rows.

use quillgate::pages::Totals;
use quillgate::{Millis, PageSize};

use crate::http::response::{HeaderFields, JSON};

pub const PAGE_ROWS: u64 = PageSize::MAX.get();
/// A page this stale can still be served instead of an error.
pub const STALE_FOR: Millis = Millis::from_seconds(86_400);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageHead {
    /// The start of the SHA-256 hash of the page's JSON, in base64url.
    pub tag: String,
    pub rows: u64,
    pub has_more: bool,
    /// `None` if the list has none, or an earlier version stored the page.
    pub totals: Option<Totals>,
    pub freshness: Freshness,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Freshness {
    pub fetched: Millis,
    pub until: Millis,
}

impl Freshness {
    pub fn is_fresh(self, now: Millis) -> bool {
        now < self.until
    }

    pub fn usable_until(self) -> Millis {
        self.until.plus(STALE_FOR)
    }

    /// In whole seconds, negative for a stale page.
    pub fn ttl(self, now: Millis) -> i64 {
        let signed = |instant: Millis| i64::try_from(instant.0).unwrap_or(i64::MAX);
        signed(self.until)
            .saturating_sub(signed(now))
            .div_euclid(1000)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageSlice {
    /// Counted from 0.
    pub number: u64,
    /// Counted from 0 at the start of the page.
    pub from: u64,
    /// Exclusive.
    pub to: u64,
}

impl PageSlice {
    pub const fn is_whole(&self) -> bool {
        self.from == 0 && self.to == PAGE_ROWS
    }
}

pub fn slice_pages(offset: u64, limit: u64) -> Vec<PageSlice> {
    let end = offset.saturating_add(limit);
    let numbers = offset / PAGE_ROWS..end.div_ceil(PAGE_ROWS);
    let slice = |number| PageSlice {
        number,
        from: offset.saturating_sub(number * PAGE_ROWS),
        to: PAGE_ROWS.min(end - number * PAGE_ROWS),
    };
    let slices = numbers.map(slice);
    slices.filter(|slice| slice.from < slice.to).collect()
}

pub fn page_key(list: &str, number: u64) -> String {
    format!("{number} {list}")
}

/// The lists are equal, and the totals differ.
pub fn is_outdated(key: &str, cached: &PageHead, list: &str, latest: &PageHead) -> bool {
    latest.totals.is_some()
        && cached.totals != latest.totals
        && cached.freshness.fetched <= latest.freshness.fetched
        && key.split_once(' ').is_some_and(|(_, own)| own == list)
}

/// On the same page or the next.
pub const fn has_more(last: &PageHead, slice: &PageSlice) -> bool {
    last.has_more || last.rows > slice.to
}

/// For `Cache-Status` (RFC 9211). `ttl` is as in [`Freshness::ttl`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CacheStatus {
    Hit {
        ttl: i64,
    },
    /// No budget is left to fetch a newer page.
    BudgetSpent {
        ttl: i64,
    },
    Fetched(FetchReason),
    /// This request waited for the fetch of another request.
    Collapsed(FetchReason),
    /// Mintlify did not return a newer page or job.
    UpstreamFailed {
        reason: FetchReason,
        /// `None` if Mintlify did not respond.
        status: Option<u16>,
        /// `None` for a job.
        ttl: Option<i64>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FetchReason {
    /// `Cache-Control: no-cache`.
    Request,
    Stale,
    Missing,
}

impl FetchReason {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Stale => "stale",
            Self::Missing => "uri-miss",
        }
    }
}

impl CacheStatus {
    /// The value of `Cache-Status` after the cache's name.
    pub fn describe(&self) -> String {
        match self {
            Self::Hit { ttl } => format!("hit; ttl={ttl}"),
            Self::BudgetSpent { ttl } => format!("hit; ttl={ttl}; detail=quota-exceeded"),
            Self::Fetched(reason) => format!("fwd={}; stored", reason.as_str()),
            Self::Collapsed(reason) => format!("fwd={}; collapsed", reason.as_str()),
            Self::UpstreamFailed {
                reason,
                status,
                ttl,
            } => {
                let status = status.map_or_else(String::new, |code| format!("; fwd-status={code}"));
                let ttl = ttl.map_or_else(String::new, |ttl| format!("; ttl={ttl}"));
                let detail = match reason {
                    FetchReason::Stale => "; detail=stale",
                    FetchReason::Request | FetchReason::Missing => "",
                };
                format!("fwd={}{status}{ttl}{detail}", reason.as_str())
            }
        }
    }

    pub fn upstream_failed(page: Freshness, status: Option<u16>, now: Millis) -> Self {
        let reason = if page.is_fresh(now) {
            FetchReason::Request
        } else {
            FetchReason::Stale
        };
        Self::UpstreamFailed {
            reason,
            status,
            ttl: Some(page.ttl(now)),
        }
    }

    pub fn collapsed(self) -> Self {
        match self {
            Self::Fetched(reason) => Self::Collapsed(reason),
            other => other,
        }
    }

    const fn rank(&self) -> u8 {
        match self {
            Self::BudgetSpent { .. }
            | Self::UpstreamFailed {
                reason: FetchReason::Stale,
                ..
            } => 2,
            Self::Fetched(_) | Self::Collapsed(_) | Self::UpstreamFailed { .. } => 1,
            Self::Hit { .. } => 0,
        }
    }

    pub const fn is_stale(&self) -> bool {
        self.rank() == 2
    }

    /// The last status with the highest rank.
    pub fn worst(statuses: Vec<Self>) -> Option<Self> {
        statuses.into_iter().max_by_key(Self::rank)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportHead {
    /// Including the quotes.
    pub etag: String,
    /// See [`Totals::are_mixed`].
    pub is_mixed: bool,
    /// The time of the oldest fetch, and the earliest time at which a page becomes stale.
    pub freshness: Freshness,
}

impl ReportHead {
    pub fn from_pages(pages: &[(&PageHead, PageSlice)]) -> Option<Self> {
        let freshness = pages.iter().map(|(page, _)| page.freshness);
        // RFC 9110, section 8.8.3. Equal tags mean equal bodies.
        let tag = |(page, slice): &(&PageHead, PageSlice)| {
            if slice.is_whole() {
                page.tag.clone()
            } else {
                format!("{}.{}.{}", page.tag, slice.from, slice.to)
            }
        };
        let tags: Vec<_> = pages.iter().map(tag).collect();
        Some(Self {
            freshness: Freshness {
                fetched: freshness.clone().map(|page| page.fetched).min()?,
                until: freshness.map(|page| page.until).min()?,
            },
            etag: format!("\"{}\"", tags.join("+")),
            is_mixed: Totals::are_mixed(pages.iter().map(|(page, _)| page.totals)),
        })
    }

    /// `cache` is the value of `Cache-Status` after the cache's name.
    pub fn headers(&self, cache: &str, now: Millis) -> HeaderFields {
        let Freshness { fetched, until } = self.freshness;
        let cache_control = if self.freshness.is_fresh(now) && !self.is_mixed {
            format!("private, max-age={}", until.since(fetched).0 / 1000)
        } else {
            "private, no-cache".to_owned()
        };
        let mixed = if self.is_mixed { "; mixed" } else { "" };
        HeaderFields::default()
            .with("age", (now.since(fetched).0 / 1000).to_string())
            .with("cache-control", cache_control)
            .with("cache-status", format!("quillgate; {cache}{mixed}"))
            .with("content-type", JSON)
            .with("etag", self.etag.clone())
            .with("vary", "Origin, Authorization")
    }
}

/// By weak comparison (RFC 9110, section 13.1.2).
pub fn matches_etag(if_none_match: Option<&str>, etag: &str) -> bool {
    let Some(value) = if_none_match else {
        return false;
    };
    let mut tags = value.split(',').map(str::trim);
    value.trim() == "*" || tags.any(|tag| tag.strip_prefix("W/").unwrap_or(tag) == etag)
}

/// RFC 9111, section 5.2.1.4.
pub fn is_no_cache(cache_control: Option<&str>) -> bool {
    let separators = |c: char| c == ',' || c.is_ascii_whitespace();
    let mut words = cache_control.unwrap_or("").split(separators);
    words.any(|word| word.eq_ignore_ascii_case("no-cache"))
}
