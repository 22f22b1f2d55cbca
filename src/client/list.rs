//! Lists: one page, page after page, or row after row.

use std::collections::VecDeque;
use std::fmt;
use std::future::IntoFuture;
use std::marker::PhantomData;

use futures_core::Stream;
use serde::de::DeserializeOwned;

use crate::analytics::{
    Conversation, Conversations, Feedback, FeedbackPage, ListConversations, ListFeedback,
    ListPageViews, ListSearches, ListVisitors, PageView, PageViews, PageVisitors, SearchTerm,
    Searches, Visitors,
};
use crate::client::Client;
use crate::client::call::Boxed;
use crate::client::driver::drive;
use crate::client::error::Error;
use crate::client::host;
use crate::client::settings::{Settings, settings};
use crate::client::stream::{Source, SourceStream};
use crate::endpoint::Endpoint;
use crate::error::{DecodeError, ValidationError};
use crate::job_list::{JobPage, ListAgentJobs, ListedJob};
use crate::pages::{PageInfo, Pages as PageSteps};
use crate::task::{Event, Task};

/// An operation whose result is one page of a list.
pub trait ListEndpoint: Endpoint<Output: DeserializeOwned> + 'static {
    /// A row of the list.
    type Row: 'static;

    /// What a page says about the list that it is a part of.
    fn page_info(page: &Self::Output) -> PageInfo<'_>;

    /// The rows of a page.
    fn into_rows(page: Self::Output) -> Vec<Self::Row>;
}

/// Says where the rows of a page are, and how it says that there are more.
macro_rules! lists {
    ($($endpoint:ident: $page:ident { $rows:ident: $row:ident, $has_more:expr, $next_cursor:expr })+) => {
        $(impl ListEndpoint for $endpoint {
            type Row = $row;

            fn page_info(page: &$page) -> PageInfo<'_> {
                let has_more: fn(&$page) -> Option<bool> = $has_more;
                let next_cursor: fn(&$page) -> Option<&str> = $next_cursor;
                PageInfo {
                    rows: page.$rows.len() as u64,
                    has_more: has_more(page),
                    next_cursor: next_cursor(page),
                }
            }

            fn into_rows(page: $page) -> Vec<$row> {
                page.$rows
            }
        })+
    };
}

lists! {
    ListAgentJobs: JobPage { jobs: ListedJob, |_| None, |page| page.next_cursor.as_deref() }
    ListPageViews: PageViews { views: PageView, |page| Some(page.has_more), |_| None }
    ListVisitors: Visitors { visitors: PageVisitors, |page| Some(page.has_more), |_| None }
    ListFeedback: FeedbackPage {
        feedback: Feedback, |page| Some(page.has_more), |page| page.next_cursor.as_deref()
    }
    ListSearches: Searches { searches: SearchTerm, |_| None, |page| page.next_cursor.as_deref() }
    ListConversations: Conversations {
        conversations: Conversation,
        |page| Some(page.has_more),
        |page| page.next_cursor.as_deref()
    }
}

/// A list that is ready to be asked for: `.await` gives one page as the operation says, [`pages`]
/// and [`rows`] go through everything from there on.
///
/// # Errors
/// By `.await`, as [`ApiCall`]; and [`Error::Decode`] when a page has more rows than were asked for,
/// or says that there is more and not where.
///
/// # Example
#[doc = concat!("```\n", include_str!("../../tests/client/examples/views.rs"), "```")]
///
/// [`pages`]: Self::pages
/// [`rows`]: Self::rows
/// [`ApiCall`]: crate::client::ApiCall
#[must_use = "a list is asked for by `.await`, or by the `next` of its pages or rows"]
pub struct List<E> {
    client: Client,
    endpoint: E,
    settings: Settings,
}

/// The names of the arguments without their values.
impl<E: Endpoint> fmt::Debug for List<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let call = self.endpoint.to_call();
        f.debug_tuple("List").field(&call).finish()
    }
}

impl<E: ListEndpoint> List<E> {
    pub(super) fn new(client: &Client, endpoint: E) -> Self {
        Self {
            client: client.clone(),
            endpoint,
            settings: client.settings.clone(),
        }
    }

    settings! {
        /// # Example
        #[doc = concat!("```\n", include_str!("../../tests/client/examples/list_options.rs"), "```")]
    }

    /// The pages from here on to the last. They are the largest ones where no `limit` is given, and
    /// an open `dateTo` is set to now, rounded down to five minutes, so that all pages are of one
    /// range.
    ///
    /// # Errors
    /// [`crate::Rule::BeforeDateTo`] when the range does not begin before now.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/pages.rs"), "```")]
    pub fn pages(self) -> Result<Pages<E>, ValidationError> {
        let steps = PageSteps::through_everything(self.endpoint.to_call(), host::now())?;
        Ok(self.begin(steps))
    }

    /// The rows from here on to the last, page by page: see [`Self::pages`].
    ///
    /// # Errors
    /// [`crate::Rule::BeforeDateTo`] when the range does not begin before now.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/rows.rs"), "```")]
    pub fn rows(self) -> Result<Rows<E>, ValidationError> {
        Ok(Rows {
            pages: self.pages()?,
            rows: VecDeque::new(),
        })
    }

    fn begin(self, steps: PageSteps) -> Pages<E> {
        Pages {
            client: self.client,
            task: Task::list(steps),
            settings: self.settings,
            endpoint: PhantomData,
        }
    }
}

impl<E: ListEndpoint> IntoFuture for List<E> {
    type Output = Result<E::Output, Error>;
    type IntoFuture = Boxed<Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        let steps = PageSteps::new(self.endpoint.to_call());
        let mut pages = self.begin(steps);
        Box::pin(async move {
            match pages.next().await? {
                Some(page) => Ok(page),
                // A list has a first page, or an error.
                None => Err(Error::from_core(
                    DecodeError::new("", "is missing").into(),
                    None,
                )),
            }
        })
    }
}

/// The pages of a list, one request after another.
///
/// # Example
#[doc = concat!("```\n", include_str!("../../tests/client/examples/pages.rs"), "```")]
pub struct Pages<E> {
    client: Client,
    task: Task,
    settings: Settings,
    endpoint: PhantomData<fn() -> E>,
}

impl<E> fmt::Debug for Pages<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pages").field(&self.task.call()).finish()
    }
}

impl<E: ListEndpoint> Pages<E> {
    /// The next page; `None` after the last. Only the list itself ends the run: a page may be empty
    /// and not the last.
    ///
    /// A page that failed, or whose future was dropped, is asked for again by the next call.
    ///
    /// # Errors
    /// As [`ApiCall`](crate::client::ApiCall). [`Error::Decode`] also when a page has more rows than
    /// were asked for, after 5 empty pages in a row, and when it says that there is more and not
    /// where, or where the list has been before; the run is over after that.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/pages.rs"), "```")]
    pub async fn next(&mut self) -> Result<Option<E::Output>, Error> {
        let (client, settings) = (&self.client, &self.settings);
        let page = drive::<E, _>(client, settings, &mut self.task, |page, _| {
            Event::Page(E::page_info(page))
        });
        Ok(page.await?.map(|delivery| delivery.value))
    }

    /// Where the run stands: the operation with which the list goes on, to be kept and given to the
    /// same method again; `None` after the last page.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/cursor.rs"), "```")]
    #[must_use]
    pub fn cursor(&self) -> Option<E> {
        E::from_call(self.task.call()?).ok()
    }

    /// The pages as a stream, which ends after the first error.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/page_stream.rs"), "```")]
    pub fn into_stream(self) -> impl Stream<Item = Result<E::Output, Error>> + Unpin + use<E> {
        SourceStream::new(self)
    }
}

impl<E: ListEndpoint> Source for Pages<E> {
    type Item = E::Output;

    async fn next_item(&mut self) -> Result<Option<E::Output>, Error> {
        self.next().await
    }
}

/// The rows of a list, which are asked for page by page.
///
/// # Example
#[doc = concat!("```\n", include_str!("../../tests/client/examples/rows.rs"), "```")]
pub struct Rows<E: ListEndpoint> {
    pages: Pages<E>,
    rows: VecDeque<E::Row>,
}

impl<E: ListEndpoint> fmt::Debug for Rows<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rows")
            .field("pages", &self.pages)
            .field("received", &self.rows.len())
            .finish()
    }
}

impl<E: ListEndpoint> Rows<E> {
    /// The next row; `None` after the last.
    ///
    /// A page that failed, or whose future was dropped, is asked for again by the next call.
    ///
    /// # Errors
    /// As [`Pages::next`].
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/rows.rs"), "```")]
    pub async fn next(&mut self) -> Result<Option<E::Row>, Error> {
        while self.rows.is_empty() {
            match self.pages.next().await? {
                Some(page) => self.rows = E::into_rows(page).into(),
                None => return Ok(None),
            }
        }
        Ok(self.rows.pop_front())
    }

    /// The rows as a stream, which ends after the first error.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/row_stream.rs"), "```")]
    pub fn into_stream(self) -> impl Stream<Item = Result<E::Row, Error>> + Unpin + use<E> {
        SourceStream::new(self)
    }
}

impl<E: ListEndpoint> Source for Rows<E> {
    type Item = E::Row;

    async fn next_item(&mut self) -> Result<Option<E::Row>, Error> {
        self.next().await
    }
}
