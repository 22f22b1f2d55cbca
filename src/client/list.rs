//! Lists. Callers request one page, all pages, or all rows.

use std::collections::VecDeque;
use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use futures_core::Stream;

use crate::analytics::{
    ArchivedViews, Conversation, Conversations, DailyViews, Feedback, FeedbackPage, GroupedViews,
    ListArchivedViews, ListConversations, ListDailyViews, ListFeedback, ListPageViews,
    ListSearches, ListVisitors, PageView, PageViews, PageVisitors, SearchTerm, Searches, Visitors,
};
use crate::call::Call;
use crate::client::Client;
use crate::client::call::ApiOperation;
use crate::client::driver::{Declared, Delivery, abortable, drive};
use crate::client::error::Error;
use crate::client::export::Export;
use crate::client::host::MaybeSend;
use crate::client::response::ApiResponse;
use crate::client::settings::{Settings, settings};
use crate::client::stream::Items;
use crate::date::{Instant, Timestamp};
use crate::deployment::{DeploymentPage, ListDeployments, ListedDeployment};
use crate::error::ValidationError;
use crate::export::ExportFormat;
use crate::job_list::{JobPage, ListAgentJobs, ListedJob};
use crate::pages::{PageInfo, Pages as PageSteps, RowKey, Totals};
use crate::schema::HasJsonType;
use crate::task::{Event, Task};
use crate::text::format_integer;

/// An operation whose result is one page of a list.
pub trait ListEndpoint: ApiOperation {
    /// The type of a row.
    type Row: HasJsonType + MaybeSend + 'static;

    #[doc(hidden)]
    fn page_info(page: &Self::Output) -> PageInfo<'_>;

    #[doc(hidden)]
    fn into_rows(page: Self::Output) -> Vec<Self::Row>;

    #[doc(hidden)]
    fn remove_rows(page: &mut Self::Output, indices: &[usize]);
}

/// Declares the rows and the pagination properties of each list.
macro_rules! lists {
    ($($endpoint:ident: $page:ident {
        $rows:ident: $row:ident, $has_more:expr, $next_cursor:expr
        $(, totals: $totals:ident)? $(, key: $key:expr)?
    })+) => {
        $(impl ListEndpoint for $endpoint {
            type Row = $row;

            fn page_info(page: &$page) -> PageInfo<'_> {
                let has_more: fn(&$page) -> Option<bool> = $has_more;
                let next_cursor: fn(&$page) -> Option<&str> = $next_cursor;
                #[allow(unused_mut, reason = "only events have keys")]
                let mut keys = Vec::new();
                $(keys.extend(page.$rows.iter().map($key));)?
                PageInfo {
                    rows: page.$rows.len() as u64,
                    has_more: has_more(page),
                    next_cursor: next_cursor(page),
                    totals: None$(.or(fingerprint(&page.$totals)))?,
                    keys,
                }
            }

            fn into_rows(page: $page) -> Vec<$row> {
                page.$rows
            }

            fn remove_rows(page: &mut $page, indices: &[usize]) {
                let mut at = 0..;
                page.$rows.retain(|_| !indices.contains(&at.next().unwrap_or_default()));
            }
        })+
    };
}

lists! {
    ListAgentJobs: JobPage { jobs: ListedJob, |_| None, |page| page.next_cursor.as_deref() }
    ListDeployments: DeploymentPage {
        deployments: ListedDeployment, |_| None, |page| page.next_cursor.as_deref()
    }
    ListArchivedViews: ArchivedViews {
        views: PageView, |_| None, |page| page.next_cursor.as_deref(), totals: totals
    }
    ListDailyViews: DailyViews { views: GroupedViews, |_| None, |page| page.next_cursor.as_deref() }
    ListPageViews: PageViews { views: PageView, |page| page.has_more, |_| None, totals: totals }
    ListVisitors: Visitors { visitors: PageVisitors, |page| page.has_more, |_| None, totals: totals }
    ListFeedback: FeedbackPage {
        feedback: Feedback, |page| page.has_more, |page| page.next_cursor.as_deref(),
        key: feedback_key
    }
    ListSearches: Searches {
        searches: SearchTerm, |_| None, |page| page.next_cursor.as_deref(), totals: total_searches
    }
    ListConversations: Conversations {
        conversations: Conversation,
        |page| page.has_more,
        |page| page.next_cursor.as_deref(),
        key: |turn: &Conversation| row_key(turn.id.as_ref(), turn.timestamp.as_ref())
    }
}

/// Returns the fingerprint of a page's totals. An absent total has none.
fn fingerprint<T: fmt::Debug>(totals: &T) -> Option<Totals> {
    let text = format!("{totals:?}");
    (text != "None").then(|| Totals::of(&text))
}

fn feedback_key(entry: &Feedback) -> RowKey {
    let (id, time) = match entry {
        Feedback::Contextual(entry) => (&entry.id, &entry.created_at),
        Feedback::CodeSnippet(entry) => (&entry.id, &entry.created_at),
        Feedback::Other(entry) => (&entry.id, &entry.created_at),
    };
    row_key(id.as_ref(), time.as_ref())
}

fn row_key(id: Option<&String>, time: Option<&Instant>) -> RowKey {
    RowKey::new(
        id.map_or("", String::as_str),
        time.map_or("", Instant::as_str),
    )
}

/// A list. [`send`](Self::send) returns one page. [`pages`](Self::pages) and [`rows`](Self::rows)
/// iterate over the whole list.
///
/// # Example
#[doc = concat!("```\n", include_str!("../../tests/client/examples/views.rs"), "```")]
#[must_use = "nothing is sent before `send`, or `next` of its pages or rows"]
pub struct List<E> {
    client: Client,
    pub(super) call: Result<Call, ValidationError>,
    settings: Settings,
    operation: PhantomData<fn() -> E>,
}

/// Shows only the names of the arguments, because a value may be confidential.
impl<E> fmt::Debug for List<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("List").field(&self.call).finish()
    }
}

impl<E: ListEndpoint> List<E> {
    pub(super) fn new(client: &Client, call: Result<Call, ValidationError>) -> Self {
        Self {
            client: client.clone(),
            call,
            settings: client.settings.clone(),
            operation: PhantomData,
        }
    }

    settings!();

    /// Requests one page. A missing `dateTo` becomes the current time, as in [`Self::pages`].
    ///
    /// To read further pages, or to store their position, use [`Self::pages`].
    ///
    /// # Errors
    /// As [`ApiCall::send`](crate::client::ApiCall::send). [`Error::Decode`] also if a page by
    /// offset has more rows than requested, or if a cursor is missing or repeats the requested one.
    /// [`Error::Validation`] also if `dateTo` is missing and `dateFrom` is not before the current time,
    /// if the offset of the next page would exceed 2^53 − 1, and for the cursor of a [`Pages::next_request`] within a part of a range, which only [`Self::pages`] and
    /// [`Self::rows`] can continue.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/views.rs"), "```")]
    pub async fn send(self) -> Result<E::Output, Error> {
        let mut pages = self.start_here();
        pages.next().await?.ok_or_else(Error::missing)
    }

    /// Requests one page, and returns it with the status and the header fields of the response.
    ///
    /// # Errors
    /// As [`Self::send`].
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/send_with_response.rs"), "```")]
    pub async fn send_with_response(self) -> Result<ApiResponse<E::Output>, Error> {
        let mut pages = self.start_here();
        pages.next_response().await?.ok_or_else(Error::missing)
    }

    fn start_here(self) -> Pages<E> {
        self.start(|call, now| {
            call.check_cursor()?;
            Ok(PageSteps::new(call.freeze(now.into())?))
        })
    }

    /// Returns all pages, starting with the requested one. Without a `limit`, the pages have the
    /// maximum size. A missing `dateTo` becomes the current time, rounded
    /// down to five minutes, so that all pages come from one range; see
    /// [`DateRange::freeze`](crate::DateRange::freeze).
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/pages.rs"), "```")]
    pub fn pages(self) -> Pages<E> {
        self.start(|call, now| PageSteps::through_everything(call, now.into()))
    }

    /// Returns the rows of all pages; see [`Self::pages`].
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/rows.rs"), "```")]
    pub fn rows(self) -> Rows<E> {
        Rows {
            pages: self.pages(),
            unread: VecDeque::new(),
            begin: None,
            returned: 0,
        }
    }

    /// Returns the rows of all pages as CSV or as JSON lines; see [`Self::pages`].
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/export.rs"), "```")]
    pub fn export(self, format: ExportFormat) -> Export<E> {
        Export::new(self.pages(), format)
    }

    fn start<F>(self, first: F) -> Pages<E>
    where
        F: FnOnce(Call, Timestamp) -> Result<PageSteps, ValidationError>,
    {
        let now = self.client.host.now();
        Pages {
            client: self.client,
            task: self
                .call
                .and_then(Call::check)
                .and_then(|call| first(call, now))
                .map(Task::list),
            settings: self.settings,
            operation: PhantomData,
        }
    }
}

/// The pages of a list, one request at a time.
///
/// # Example
#[doc = concat!("```\n", include_str!("../../tests/client/examples/pages.rs"), "```")]
#[must_use = "nothing is sent before `next`"]
pub struct Pages<E> {
    client: Client,
    /// An error if the arguments are invalid, which `next` returns.
    task: Result<Task, ValidationError>,
    settings: Settings,
    operation: PhantomData<fn() -> E>,
}

impl<E> fmt::Debug for Pages<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let call = self.task.as_ref().map(Task::call);
        f.debug_tuple("Pages").field(&call).finish()
    }
}

impl<E: ListEndpoint> Pages<E> {
    /// Returns the next page, or `None` after the last. An empty page is not necessarily the last.
    ///
    /// After a failure or a dropped future, the next call requests the same page.
    ///
    /// # Errors
    /// As [`ApiCall::send`](crate::client::ApiCall::send). [`Error::Validation`] also if `dateTo`
    /// is missing and `dateFrom` is not before the current time; see
    /// [`DateRange::freeze`](crate::DateRange::freeze).
    ///
    /// [`Error::Decode`] also if a page by offset has more rows than requested, after 5 empty pages
    /// in a row (except in a list of jobs), and if a cursor is missing or repeated.
    /// [`Error::Validation`] also if the next offset would exceed 2^53 − 1. These errors end the
    /// list.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/pages.rs"), "```")]
    pub async fn next(&mut self) -> Result<Option<E::Output>, Error> {
        let response = self.next_response().await?;
        Ok(response.map(|response| response.result))
    }

    /// Returns the next page with the status and the header fields of its response; see
    /// [`Self::next`].
    ///
    /// # Errors
    /// As [`Self::next`].
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/send_with_response.rs"), "```")]
    pub async fn next_response(&mut self) -> Result<Option<ApiResponse<E::Output>>, Error> {
        let mut page = self.fetch().await?.map(|delivery| delivery.response);
        let repeated = self.repeated();
        if let Some(page) = page.as_mut().filter(|_| !repeated.is_empty()) {
            E::remove_rows(&mut page.result, repeated);
        }
        Ok(page)
    }

    /// Requests the next page.
    pub(super) async fn fetch(&mut self) -> Result<Option<Delivery<E::Output>>, Error> {
        let task = self.task.as_mut().map_err(|error| error.clone())?;
        let sent = Declared::<E>::NEW;
        drive(&self.client, &self.settings, task, &sent, |page, _| {
            Event::Page(E::page_info(page))
        })
        .await
    }

    /// Returns the indices of the rows of the last page that an earlier page contained.
    pub(super) fn repeated(&self) -> &[usize] {
        let pages = self.task.as_ref().ok().and_then(Task::pages);
        pages.map_or(&[], PageSteps::repeated)
    }

    /// Waits. A signal of the settings ends the wait.
    pub(super) async fn sleep(&self, duration: Duration) -> Result<(), Error> {
        let sleep = self.client.host.sleep(duration);
        abortable(&self.settings, async {
            sleep.await;
            Ok(())
        })
        .await
    }

    /// Returns whether the totals changed between two pages. Rows can then be missing or repeated.
    /// Counts of a range that includes today change all the time, so this is not an error.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/pages.rs"), "```")]
    #[must_use]
    pub fn is_mixed(&self) -> bool {
        let pages = self.task.as_ref().ok().and_then(Task::pages);
        pages.is_some_and(PageSteps::is_mixed)
    }

    /// Returns the operation that requests the next page. Store it to resume the list later.
    /// Returns `None` after the last page, or if the arguments are invalid.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/next_request.rs"), "```")]
    #[must_use]
    pub fn next_request(&self) -> Option<E> {
        E::from_call(&self.position()?).ok()
    }

    pub(super) fn position(&self) -> Option<Call> {
        self.task.as_ref().ok()?.pages()?.position()
    }

    /// Converts the pages to a stream, which ends after the first error.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/page_stream.rs"), "```")]
    pub fn into_stream(
        self,
    ) -> impl Stream<Item = Result<E::Output, Error>> + Unpin + MaybeSend + use<E> {
        Items::new(self, |mut source| {
            Box::pin(async move { (source.next().await, source) })
        })
    }
}

/// The rows of a list, requested page by page.
///
/// # Example
#[doc = concat!("```\n", include_str!("../../tests/client/examples/rows.rs"), "```")]
#[must_use = "nothing is sent before `next`"]
pub struct Rows<E: ListEndpoint> {
    pages: Pages<E>,
    unread: VecDeque<E::Row>,
    /// The call for the page that contains `unread`.
    begin: Option<Call>,
    /// The number of rows of this page that were returned.
    returned: u64,
}

impl<E: ListEndpoint> fmt::Debug for Rows<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rows")
            .field("pages", &self.pages)
            .field("received", &self.unread.len())
            .finish_non_exhaustive()
    }
}

impl<E: ListEndpoint> Rows<E> {
    /// Returns the next row, or `None` after the last.
    ///
    /// After a failure or a dropped future, the next call requests the same page.
    ///
    /// # Errors
    /// As [`Pages::next`].
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/rows.rs"), "```")]
    pub async fn next(&mut self) -> Result<Option<E::Row>, Error> {
        while self.unread.is_empty() {
            let begin = self.pages.position();
            match self.pages.next().await? {
                Some(page) => self.unread = E::into_rows(page).into(),
                None => return Ok(None),
            }
            (self.begin, self.returned) = (begin, 0);
        }
        self.returned += 1;
        Ok(self.unread.pop_front())
    }

    /// Returns the operation that requests the rows after the last one. Store it to resume the list
    /// later. Returns `None` after the last row, or if the arguments are invalid.
    ///
    /// A list by cursor continues at the start of a page. Until all rows of a page are returned, its
    /// request therefore repeats them.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/rows.rs"), "```")]
    #[must_use]
    pub fn next_request(&self) -> Option<E> {
        if self.unread.is_empty() {
            return self.pages.next_request();
        }
        let mut call = self.begin.clone()?;
        if let Some(offset) = call.integer("offset") {
            call.set("offset", format_integer(offset + self.returned));
        }
        E::from_call(&call).ok()
    }

    /// Returns whether the totals changed between two pages; see [`Pages::is_mixed`].
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/rows.rs"), "```")]
    #[must_use]
    pub fn is_mixed(&self) -> bool {
        self.pages.is_mixed()
    }

    /// Converts the rows to a stream, which ends after the first error.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/row_stream.rs"), "```")]
    pub fn into_stream(
        self,
    ) -> impl Stream<Item = Result<E::Row, Error>> + Unpin + MaybeSend + use<E> {
        Items::new(self, |mut source| {
            Box::pin(async move { (source.next().await, source) })
        })
    }
}
