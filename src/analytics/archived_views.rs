//! The views of each page in a range of days, from a gateway's daily archive.

use crate::analytics::{EndDay, FirstDay, PageView, ViewTotals};
use crate::declaration::Pagination;
use crate::list::Limit;
use crate::parameters::Cursor;

/// The page size of archived views: 1 to 1,000 rows.
pub type ArchivedPageSize = Limit<1000, 1000>;

record! {
    /// One page of the list of archived page views.
    pub struct ArchivedViews {
        /// Views of the whole site on the archived days, the same on every page.
        pub totals as "totals": ViewTotals,
        /// The rows of this page, in order of their paths.
        pub views as "views": Vec<PageView>,
        /// The days of the range that are not archived. The counts do not include them.
        pub missing as "missing": Vec<String>,
        /// The cursor of the next page. `null` on the last page.
        pub next_cursor as "nextCursor": Option<String>,
    }
}

operation! {
    /// Lists every page with views in a range of days, in order of their paths. Reads the gateway's
    /// daily archive and sends no request to Mintlify.
    pub struct ListArchivedViews -> ArchivedViews {
        /// The first day.
        pub date_from: FirstDay,
        /// The day after the last day.
        pub date_to: EndDay,
        /// Maximum rows per page. Default: 1,000. Ranges of more than 133 days have shorter pages.
        pub limit: Option<ArchivedPageSize>,
        /// The cursor of the page to return.
        pub cursor: Option<Cursor>,
    }
    name: "analytics.archivedViews",
    route: Get "/v1/analytics/{projectId}/views/archived",
    scope: ReadAnalytics,
    policy: None,
    repeat: Safe,
    pagination: Pagination::Cursor { rows: "views", time: None, scans: false },
    link: None,
}
