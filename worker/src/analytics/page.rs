//! Pages of [`PAGE_ROWS`] rows from the upstream, the reports cut from them, and their freshness.
//!
//! The gateway fetches whole pages, because the hourly budget counts requests, not rows. One page holds
//! ten reports of 25 rows.

use quillgate::{Millis, PageSize};

use crate::http::response::{HeaderFields, JSON};

/// The rows per page: the most that the upstream returns.
pub const PAGE_ROWS: u64 = PageSize::MAX.get();
/// How long a stale page may be served instead of an error: a day.
pub const STALE_FOR: Millis = Millis::from_seconds(86_400);

/// The metadata of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageHead {
    /// A short hash of the text.
    pub tag: String,
    /// The number of rows.
    pub rows: u64,
    /// `hasMore` of the upstream.
    pub has_more: bool,
    /// When it was fetched.
    pub fetched: Millis,
    /// Until when it is fresh.
    pub fresh_until: Millis,
}

impl PageHead {
    /// Whether it is fresh.
    #[must_use]
    pub fn is_fresh(&self, now: Millis) -> bool {
        now < self.fresh_until
    }

    /// Whether it may be served, if only rather than an error.
    #[must_use]
    pub fn is_usable(&self, now: Millis) -> bool {
        now < self.fresh_until.plus(STALE_FOR)
    }

    /// For how many more seconds it is fresh; negative when it no longer is.
    fn ttl(&self, now: Millis) -> i64 {
        seconds_until(self.fresh_until, now)
    }
}

/// Whole seconds from `now` until `instant`, rounded down; negative when that has passed.
fn seconds_until(instant: Millis, now: Millis) -> i64 {
    let signed = |instant: Millis| i64::try_from(instant.0).unwrap_or(i64::MAX);
    signed(instant).saturating_sub(signed(now)).div_euclid(1000)
}

/// A piece of an answer: some rows of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// The number of the page, counted from 0.
    pub number: u64,
    /// The first row, counted from the first of the page.
    pub from: u64,
    /// The row after the last.
    pub to: u64,
}

impl Piece {
    /// Whether it is the whole page.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        self.from == 0 && self.to == PAGE_ROWS
    }
}

/// Splits a range of rows into pieces of pages.
#[must_use]
pub fn split_into_pieces(offset: u64, limit: u64) -> Vec<Piece> {
    let end = offset.saturating_add(limit);
    let mut pieces = Vec::new();
    let mut at = offset;
    while at < end {
        let number = at / PAGE_ROWS;
        let first = number * PAGE_ROWS;
        let to = end.min(first.saturating_add(PAGE_ROWS));
        pieces.push(Piece {
            number,
            from: at - first,
            to: to - first,
        });
        at = to;
    }
    pieces
}

/// The target of a page: that of the list, with `limit` and `offset`.
#[must_use]
pub fn page_target(list: &str, number: u64) -> String {
    let join = if list.contains('?') { '&' } else { '?' };
    let offset = number.saturating_mul(PAGE_ROWS);
    format!("{list}{join}limit={PAGE_ROWS}&offset={offset}")
}

/// Returns the unique cache key of a page.
#[must_use]
pub fn page_name(list: &str, number: u64) -> String {
    format!("{number} {list}")
}

/// Whether there is more after an answer: its last page has more rows than were requested, or is
/// not the last of the list.
#[must_use]
pub const fn has_more(last: &PageHead, piece: &Piece) -> bool {
    last.has_more || last.rows > piece.to
}

/// Where a page came from, for `Cache-Status` (RFC 9211).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CacheStatus {
    /// From the cache, and it is fresh.
    Hit {
        /// For how many more seconds it is fresh; negative when it no longer is.
        ttl: i64,
    },
    /// From the cache, since the budget for a newer one is used up.
    BudgetSpent {
        /// As in [`Self::Hit`].
        ttl: i64,
    },
    /// From the upstream.
    Fetched {
        /// Why it was fetched.
        reason: FetchReason,
        /// Who fetched it.
        by: FetchedBy,
    },
    /// From the cache, since the upstream failed to return a newer one.
    UpstreamFailed {
        /// Why a newer one was wanted.
        reason: FetchReason,
        /// The upstream's status, if it answered.
        status: Option<u16>,
        /// As in [`Self::Hit`].
        ttl: i64,
    },
}

/// Why the upstream was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FetchReason {
    /// The caller does not want a page from the cache (`Cache-Control: no-cache`).
    Request,
    /// The page in the cache is stale.
    Stale,
    /// The cache has no such page.
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

/// Who fetched a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FetchedBy {
    /// This request.
    Itself,
    /// Another request, for which this one waited.
    Another,
}

impl CacheStatus {
    /// The value after the cache's name.
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Self::Hit { ttl } => format!("hit; ttl={ttl}"),
            Self::BudgetSpent { ttl } => format!("hit; ttl={ttl}; detail=quota-exceeded"),
            Self::Fetched { reason, by } => {
                let how = match by {
                    FetchedBy::Itself => "stored",
                    FetchedBy::Another => "collapsed",
                };
                format!("fwd={}; {how}", reason.as_str())
            }
            Self::UpstreamFailed {
                reason,
                status,
                ttl,
            } => {
                let status = status.map_or_else(String::new, |it| format!("; fwd-status={it}"));
                let detail = match reason {
                    FetchReason::Stale => "; detail=stale",
                    FetchReason::Request | FetchReason::Missing => "",
                };
                format!("fwd={}{status}; ttl={ttl}{detail}", reason.as_str())
            }
        }
    }

    /// The status of a page from the cache that is fresh.
    #[must_use]
    pub fn hit(page: &PageHead, now: Millis) -> Self {
        Self::Hit { ttl: page.ttl(now) }
    }

    /// The status of a page from the cache when the budget for a newer one is used up.
    #[must_use]
    pub fn budget_spent(page: &PageHead, now: Millis) -> Self {
        Self::BudgetSpent { ttl: page.ttl(now) }
    }

    /// The status of a page from the cache when the upstream failed to return a newer one.
    #[must_use]
    pub fn upstream_failed(page: &PageHead, status: Option<u16>, now: Millis) -> Self {
        let reason = if page.is_fresh(now) {
            FetchReason::Request
        } else {
            FetchReason::Stale
        };
        Self::UpstreamFailed {
            reason,
            status,
            ttl: page.ttl(now),
        }
    }

    /// The status for a request that waited for another's fetch.
    #[must_use]
    pub fn collapsed(self) -> Self {
        match self {
            Self::Fetched { reason, .. } => Self::Fetched {
                reason,
                by: FetchedBy::Another,
            },
            other => other,
        }
    }

    /// How bad the status is: stale, else fetched, else from the cache.
    const fn rank(&self) -> u8 {
        match self {
            Self::BudgetSpent { .. }
            | Self::UpstreamFailed {
                reason: FetchReason::Stale,
                ..
            } => 2,
            Self::Fetched { .. } | Self::UpstreamFailed { .. } => 1,
            Self::Hit { .. } => 0,
        }
    }

    /// Whether the page is no longer fresh, and served rather than an error.
    #[must_use]
    pub const fn is_stale(&self) -> bool {
        self.rank() == 2
    }

    /// The worse of two statuses, which is that of an answer with both pages.
    #[must_use]
    pub fn worse(self, other: Self) -> Self {
        if other.rank() >= self.rank() {
            other
        } else {
            self
        }
    }
}

/// Returns the reason for fetching a page, given the cached one.
#[must_use]
pub const fn fetch_reason(kept: Option<&PageHead>, revalidate: bool) -> FetchReason {
    match kept {
        _ if revalidate => FetchReason::Request,
        Some(_) => FetchReason::Stale,
        None => FetchReason::Missing,
    }
}

/// The parts of an answer with page views from which its header fields are made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportHead {
    /// The validator.
    pub etag: String,
    /// When the oldest of its pages was fetched.
    pub fetched: Millis,
    /// Until when all of them are fresh.
    pub fresh_until: Millis,
}

impl ReportHead {
    /// Builds the head of a report cut from these pages. Returns `None` without pages.
    #[must_use]
    pub fn from_pages(pages: &[(&PageHead, Piece)]) -> Option<Self> {
        let fetched = pages.iter().map(|(page, _)| page.fetched).min()?;
        let fresh_until = pages.iter().map(|(page, _)| page.fresh_until).min()?;
        Some(Self {
            etag: build_etag(pages),
            fetched,
            fresh_until,
        })
    }

    /// Whether it is fresh.
    #[must_use]
    pub fn is_fresh(&self, now: Millis) -> bool {
        now < self.fresh_until
    }

    /// For how many more seconds it is fresh, rounded down; negative when it no longer is.
    #[must_use]
    pub fn ttl(&self, now: Millis) -> i64 {
        seconds_until(self.fresh_until, now)
    }

    /// The header fields of the answer, with `cache` as `Cache-Status`.
    #[must_use]
    pub fn headers(&self, cache: &str, now: Millis) -> HeaderFields {
        let lifetime = self.fresh_until.since(self.fetched).0 / 1000;
        let cache_control = if self.is_fresh(now) {
            format!("private, max-age={lifetime}")
        } else {
            "private, no-cache".to_owned()
        };
        HeaderFields::default()
            .with("age", (now.since(self.fetched).0 / 1000).to_string())
            .with("cache-control", cache_control)
            .with("cache-status", format!("quillgate; {cache}"))
            .with("content-type", JSON)
            .with("etag", self.etag.clone())
            .with("vary", "Origin, Authorization")
    }
}

/// Builds the entity tag (RFC 9110, section 8.8.3) from the row ranges and the tags of the pages. Equal
/// bodies have equal tags.
fn build_etag(pages: &[(&PageHead, Piece)]) -> String {
    let part = |(page, piece): &(&PageHead, Piece)| {
        if piece.is_whole() {
            page.tag.clone()
        } else {
            format!("{}.{}.{}", page.tag, piece.from, piece.to)
        }
    };
    let parts: Vec<_> = pages.iter().map(part).collect();
    format!("\"{}\"", parts.join("+"))
}

/// Whether `If-None-Match` names this validator, compared weakly (RFC 9110, section 13.1.2).
#[must_use]
pub fn matches_etag(if_none_match: Option<&str>, etag: &str) -> bool {
    let Some(value) = if_none_match else {
        return false;
    };
    let tags = value.split(',').map(str::trim);
    let mut tags = tags.map(|tag| tag.strip_prefix("W/").unwrap_or(tag));
    value.trim() == "*" || tags.any(|tag| tag == etag)
}

/// Whether `Cache-Control` of a request has `no-cache` (RFC 9111, section 5.2.1.4).
#[must_use]
pub fn is_no_cache(cache_control: Option<&str>) -> bool {
    let separators = |c: char| c == ',' || c.is_ascii_whitespace();
    let mut words = cache_control.unwrap_or("").split(separators);
    words.any(|word| word.eq_ignore_ascii_case("no-cache"))
}
