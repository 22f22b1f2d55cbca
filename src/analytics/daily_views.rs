//! A gateway's daily archive: page views per day. Mintlify itself reports only the totals of a date
//! range.

use crate::analytics::VisitorTotals;
use crate::count::Count;
use crate::declaration::{Pagination, Parameter, ParameterKind, Place};
use crate::error::{Rule, ValidationError};
use crate::list::Limit;
use crate::parameters::{Cursor, SingleParameter, text_parameter};
use crate::text::quote;

/// The maximum number of groups per page: 1 to 1,000.
pub type SeriesPageSize = Limit<1000, 366>;

record! {
    /// Views within a day, a week or a month.
    pub struct GroupedViews {
        /// Its first day, `YYYY-MM-DD`. Of a week that is its Monday, of a month its first, even
        /// where the range begins later.
        pub date as "date": String,
        /// Views by people on the days that are held; `null` when the platform did not count them.
        pub human as "human": Option<Count>,
        /// Views by AI.
        pub ai as "ai": Option<Count>,
        /// All views.
        pub total as "total": Option<Count>,
        /// How many of its days within the range are held. All counts are of these alone.
        pub days as "days": Count,
        /// Its days within the range that are not held.
        pub missing as "missing": Vec<String>,
        /// The site's visitors on that day. Those of several days cannot be added up, so that they
        /// are `null` for groups other than days, and for paths.
        pub visitors as "visitors": Option<VisitorTotals>,
    }
}

record! {
    /// One page of a series of views.
    pub struct DailyViews {
        /// The groups of which at least one day is held, in order.
        pub views as "views": Vec<GroupedViews>,
        /// Every day of this page that is not held. It counts nowhere, not even as zero.
        pub missing as "missing": Vec<String>,
        /// Where the series goes on; `null` after the last page.
        pub next_cursor as "nextCursor": Option<String>,
    }
}

record! {
    /// Days that are not held.
    pub struct MissingDays {
        /// The first.
        pub date_from as "dateFrom": String,
        /// The day after the last.
        pub date_to as "dateTo": String,
    }
}

record! {
    /// A day whose last request failed.
    pub struct FailedDay {
        /// The day.
        pub date as "date": String,
        /// How many requests for it have failed since one succeeded.
        pub attempts as "attempts": Count,
        /// When it is asked for again, as an ISO 8601 date-time.
        pub retry_at as "retryAt": String,
        /// The problem of the last request, by its `type`.
        pub problem as "problem": Option<String>,
    }
}

record! {
    /// What the archive holds of a project, and what it lacks.
    pub struct ArchiveStatus {
        /// The first day that is wanted.
        pub date_from as "dateFrom": String,
        /// The day after the last that is wanted: today, in UTC.
        pub date_to as "dateTo": String,
        /// How many of these days are held.
        pub complete as "complete": Count,
        /// How many were begun and are not held yet.
        pub partial as "partial": Count,
        /// How many are not held since requests for them failed.
        pub failed as "failed": Count,
        /// Every day that is not held, begun ones and failed ones included.
        pub missing as "missing": Vec<MissingDays>,
        /// The days whose last request failed, held ones included: the first 100.
        pub failures as "failures": Vec<FailedDay>,
        /// How many requests what is missing takes, estimated.
        pub requests as "requests": Count,
        /// How many hours these take within the archive's share of the budget; `null` when that does
        /// not suffice.
        pub hours as "hours": Option<Count>,
        /// When it will be complete, as an ISO 8601 date-time.
        pub complete_at as "completeAt": Option<String>,
        /// How many bytes the database has, all projects together.
        pub bytes as "bytes": Option<Count>,
    }
}

record! {
    /// What a backfill takes.
    pub struct Backfill {
        /// The first day that it makes wanted, within what the archive retains.
        pub date_from as "dateFrom": String,
        /// How many days are missing from there on.
        pub days as "days": Count,
        /// How many requests they take, estimated.
        pub requests as "requests": Count,
        /// How many hours these take within the archive's share of the budget; `null` when that does
        /// not suffice.
        pub hours as "hours": Option<Count>,
        /// When the archive will be complete, as an ISO 8601 date-time.
        pub complete_at as "completeAt": Option<String>,
    }
}

/// The length of the periods that views are grouped by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
}

impl SingleParameter for DayGroup {
    const PARAMETER: Parameter =
        Parameter::optional("group", Place::Query, ParameterKind::OneOf(&Self::NAMES));
    const DOC: &'static str = "What is counted together: each day, each week from Monday on (ISO 8601), or each month. `day` when it is left out.";

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
    pub struct PagePath, Query "path", Text,
    "Only this page: its path as the platform reports it, as in `/guides/start`."
}

text_parameter! {
    /// A path and all paths below it.
    pub struct PathPrefix, Query "prefix", Text,
    "Only pages whose path begins with these whole segments: `/guides` is `/guides` and all that is below `/guides/`. It begins with a slash and ends with none; `/` is every page."
}

text_parameter! {
    /// The first day of a range.
    pub struct FirstDay, Query "dateFrom", Date,
    "The first day that counts: `YYYY-MM-DD`, in UTC."
}

text_parameter! {
    /// The day after the last day of a range.
    pub struct EndDay, Query "dateTo", Date,
    "The first day that does not count any more (exclusive): `YYYY-MM-DD`, in UTC; at most 3660 days after `dateFrom`."
}

text_parameter! {
    /// The first day of a backfill, sent in the body.
    pub struct BackfillBegin, Body "dateFrom", Date,
    "The first day that is wanted: `YYYY-MM-DD`. The oldest that the archive retains when it is earlier."
}

operation! {
    /// Answers from the gateway's daily archive how often the site, a page or the pages below a path
    /// were viewed on each day, without a request to the platform.
    pub struct ListDailyViews -> DailyViews {
        /// The first day.
        pub date_from: FirstDay,
        /// The day after the last.
        pub date_to: EndDay,
        /// Only this page.
        pub path: Option<PagePath>,
        /// Only pages below this path, and it.
        pub prefix: Option<PathPrefix>,
        /// What is counted together; days unless told.
        pub group: Option<DayGroup>,
        /// Groups per page; 366 unless told.
        pub limit: Option<SeriesPageSize>,
        /// Where to go on.
        pub cursor: Option<Cursor>,
    }
    name: "analytics.dailyViews",
    route: Get "/v1/analytics/{projectId}/views/daily",
    scope: ReadAnalytics,
    policy: None,
    pagination: Pagination::Cursor { rows: "views" },
    link: None,
}

operation! {
    /// Says what the gateway's daily archive holds of a project, what is missing, and when it will
    /// be complete.
    pub struct GetArchiveStatus: Default -> ArchiveStatus {}
    name: "analytics.archiveStatus",
    route: Get "/v1/analytics/{projectId}/views/daily/status",
    scope: ReadAnalytics,
    policy: None,
    pagination: Pagination::Whole,
    link: None,
}

operation! {
    /// Says how many requests and hours a backfill of the daily archive takes, and begins none.
    pub struct EstimateBackfill -> Backfill {
        /// The first day that would be wanted.
        pub date_from: FirstDay,
    }
    name: "analytics.estimateBackfill",
    route: Get "/v1/analytics/{projectId}/views/daily/backfill",
    scope: Operate,
    policy: None,
    pagination: Pagination::Whole,
    link: None,
}

operation! {
    /// Makes the daily archive fetch all days from one on; says how many requests and hours that takes.
    pub struct BeginBackfill -> Backfill {
        /// The first day that is wanted.
        pub date_from: BackfillBegin,
    }
    name: "analytics.beginBackfill",
    route: Post "/v1/analytics/{projectId}/views/daily/backfill",
    scope: Operate,
    policy: None,
    pagination: Pagination::Whole,
    link: None,
}
