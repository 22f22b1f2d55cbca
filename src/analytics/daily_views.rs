//! A gateway's daily archive: views and visitors per day, the archive's status, and backfills.
//! Mintlify itself reports only the totals of a date range.

use crate::analytics::VisitorTotals;
use crate::count::Count;
use crate::date::{Day, Instant};
use crate::declaration::{Pagination, Parameter, ParameterIn, ParameterKind};
use crate::error::{Rule, ValidationError};
use crate::list::Limit;
use crate::parameters::{Cursor, ParameterType, text_parameter};
use crate::text::quote;

/// The page size of a series of views: 1 to 1,000 groups.
pub type SeriesPageSize = Limit<1000, 366>;

record! {
    /// Views in a day, a week or a month.
    pub struct GroupedViews {
        /// The first day, `YYYY-MM-DD`. Weeks start on Monday and months on the 1st, even if the
        /// range begins later.
        pub date as "date": String,
        /// Views by people on the archived days. `null` if Mintlify's count of any of these days is
        /// missing.
        pub human as "human": Option<Count>,
        /// Views by AI.
        pub ai as "ai": Option<Count>,
        /// All views.
        pub total as "total": Option<Count>,
        /// The number of the group's days within the range that are archived. All counts cover only
        /// these days.
        pub days as "days": Count,
        /// The group's days within the range that are not archived.
        pub missing as "missing": Vec<String>,
        /// The site's visitors on that day. `null` for paths, weeks and months. Visitors of several
        /// days cannot be added up.
        pub visitors as "visitors": Option<VisitorTotals>,
    }
}

record! {
    /// One page of a series of views.
    pub struct DailyViews {
        /// The groups with at least one archived day, in order.
        pub views as "views": Vec<GroupedViews>,
        /// All days of this page that are not archived. The counts do not include them.
        pub missing as "missing": Vec<String>,
        /// The cursor of the next page. `null` on the last page.
        pub next_cursor as "nextCursor": Option<String>,
    }
}

record! {
    /// A range of days that are not archived.
    pub struct MissingDays {
        /// The first day.
        pub date_from as "dateFrom": String,
        /// The day after the last day.
        pub date_to as "dateTo": String,
    }
}

record! {
    /// A day whose last request failed.
    pub struct FailedDay {
        /// The day.
        pub date as "date": String,
        /// The number of consecutive failed attempts to fetch the day.
        pub attempts as "attempts": Count,
        /// When the day is requested again, as an ISO 8601 date-time.
        pub retry_at as "retryAt": Instant,
        /// The `type` of the last request's problem.
        pub problem as "problem": Option<String>,
    }
}

record! {
    /// The archived and the missing days of a project.
    pub struct ArchiveStatus {
        /// The first day to archive.
        pub date_from as "dateFrom": String,
        /// The day after the last day to archive: today, in UTC.
        pub date_to as "dateTo": String,
        /// The number of archived days.
        pub complete as "complete": Count,
        /// The number of days that are partially fetched and not archived yet.
        pub partial as "partial": Count,
        /// The number of days that are not archived and whose last request failed.
        pub failed as "failed": Count,
        /// All days that are not archived, including partial and failed days.
        pub missing as "missing": Vec<MissingDays>,
        /// The first 100 days whose last request failed, including archived days.
        pub failures as "failures": Vec<FailedDay>,
        /// The estimated number of requests for the missing days.
        pub requests as "requests": Count,
        /// The estimated number of hours for these requests within the archive's share of the
        /// budget. `null` if the share is too small.
        pub hours as "hours": Option<Count>,
        /// When the archive will be complete by this estimate, as an ISO 8601 date-time. `null` if
        /// `hours` is `null`.
        pub complete_at as "completeAt": Option<Instant>,
        /// The size of the database in bytes, for all projects together.
        pub bytes as "bytes": Option<Count>,
    }
}

record! {
    /// The estimate of a backfill.
    pub struct Backfill {
        /// The first day to archive: the requested day, but no earlier than the first day that the
        /// archive retains and no later than the current first day.
        pub date_from as "dateFrom": String,
        /// The number of missing days from that day on.
        pub days as "days": Count,
        /// The estimated number of requests for these days.
        pub requests as "requests": Count,
        /// The estimated number of hours for these requests within the archive's share of the
        /// budget. `null` if the share is too small.
        pub hours as "hours": Option<Count>,
        /// When the archive will be complete by this estimate, as an ISO 8601 date-time. `null` if
        /// `hours` is `null`.
        pub complete_at as "completeAt": Option<Instant>,
    }
}

/// The length of the periods that views are grouped by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DayGroup {
    /// Days.
    Day,
    /// Weeks, starting on Monday (ISO 8601).
    Week,
    /// Calendar months.
    Month,
}

impl DayGroup {
    const ALL: [Self; 3] = [Self::Day, Self::Week, Self::Month];
    const NAMES: [&'static str; 3] = ["day", "week", "month"];

    /// Returns the value in a request.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// Returns the first day of the group that contains `day`.
    #[doc(hidden)]
    #[must_use]
    pub fn begin_of(self, day: Day) -> Day {
        match self {
            Self::Day => day,
            Self::Week => day.begin_of_week(),
            Self::Month => day.begin_of_month(),
        }
    }

    /// Returns the day after the last day of the group that contains `day`.
    #[doc(hidden)]
    #[must_use]
    pub fn end_of(self, day: Day) -> Day {
        match self {
            Self::Day => day.next(),
            Self::Week => day.begin_of_week().plus(7),
            Self::Month => day.begin_of_next_month(),
        }
    }
}

impl ParameterType for DayGroup {
    const PARAMETER: Parameter = Parameter::optional(
        "group",
        ParameterIn::Query,
        ParameterKind::OneOf(&Self::NAMES),
    );
    const DOC: &'static str = "The length of a group: a day, a week that starts on Monday (ISO 8601), or a month. Default: `day`.";

    fn from_text(text: &str) -> Result<Self, ValidationError> {
        let known = Self::ALL.into_iter().find(|group| group.as_str() == text);
        known.ok_or_else(|| ValidationError::new("group", Rule::OneOf(&Self::NAMES), quote(text)))
    }

    fn to_text(&self) -> String {
        self.as_str().to_owned()
    }
}

text_parameter! {
    /// The path of a page.
    pub struct PagePath, Query "path", ParameterKind::Text,
    "Only this page, by the path that Mintlify reports, such as `/guides/start`."
}

text_parameter! {
    /// A path and all paths below it.
    pub struct PathPrefix, Query "prefix", ParameterKind::Text,
    "Only this path and the pages below it: `/guides` matches `/guides` and every path that starts with `/guides/`. Starts with a slash and does not end with one, except `/`, which matches every page."
}

text_parameter! {
    /// The first day of a range.
    pub struct FirstDay, Query "dateFrom", ParameterKind::Date,
    "The first day: `YYYY-MM-DD`, in UTC."
}

text_parameter! {
    /// The day after the last day of a range.
    pub struct EndDay, Query "dateTo", ParameterKind::Date,
    "The day after the last day: `YYYY-MM-DD`, in UTC. At most 3660 days after `dateFrom`."
}

text_parameter! {
    /// The first day of a backfill, sent in the body.
    pub struct BackfillBegin, Body "dateFrom", ParameterKind::Date,
    "The first day to archive: `YYYY-MM-DD`. Days that the archive no longer retains are ignored."
}

operation! {
    /// Lists daily, weekly or monthly views of the site, a page or all pages below a path. Reads
    /// the gateway's daily archive and sends no request to Mintlify.
    pub struct ListDailyViews -> DailyViews {
        /// The first day.
        pub date_from: FirstDay,
        /// The day after the last day.
        pub date_to: EndDay,
        /// Only this page.
        pub path: Option<PagePath>,
        /// Only this path and the pages below it.
        pub prefix: Option<PathPrefix>,
        /// The length of a group. Default: a day.
        pub group: Option<DayGroup>,
        /// Groups per page. Default: 366.
        pub limit: Option<SeriesPageSize>,
        /// The cursor of the page to return.
        pub cursor: Option<Cursor>,
    }
    name: "analytics.dailyViews",
    route: Get "/v1/analytics/{projectId}/views/daily",
    scope: ReadAnalytics,
    policy: None,
    repeat: Safe,
    pagination: Pagination::Cursor { rows: "views", time: None, scans: false },
    link: None,
}

operation! {
    /// Returns which days the gateway's daily archive contains, which are missing, and when it will
    /// be complete.
    pub struct GetArchiveStatus: Default -> ArchiveStatus {}
    name: "analytics.archiveStatus",
    route: Get "/v1/analytics/{projectId}/views/daily/status",
    scope: ReadAnalytics,
    policy: None,
    repeat: Safe,
    pagination: Pagination::None,
    link: None,
}

operation! {
    /// Estimates the requests and hours of a backfill of the daily archive, without starting it.
    pub struct EstimateBackfill -> Backfill {
        /// The first day of the backfill.
        pub date_from: FirstDay,
    }
    name: "analytics.estimateBackfill",
    route: Get "/v1/analytics/{projectId}/views/daily/backfill",
    scope: Operate,
    policy: None,
    repeat: Safe,
    pagination: Pagination::None,
    link: None,
}

operation! {
    /// Starts a backfill: the daily archive fetches all missing days from `dateFrom` on. Returns an
    /// estimate of the requests and hours.
    pub struct BeginBackfill -> Backfill {
        /// The first day to archive.
        pub date_from: BackfillBegin,
    }
    name: "analytics.beginBackfill",
    route: Post "/v1/analytics/{projectId}/views/daily/backfill",
    scope: Operate,
    policy: None,
    repeat: Safe,
    pagination: Pagination::None,
    link: None,
}
