//! Reports: pages of their rows for the API, and all rows for the control API.

use std::ops::Range;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use quillgate::Operation;
use serde::Serialize;

use crate::analytics::{ReportQuery, ReportRequest};
use crate::api_error::ApiError;
use crate::cursor::CursorPage;
use crate::data::{
    CallerStats, Conversation, Entry, PageFeedback, SearchReport, Thread, TrafficReport,
    count_by_page,
};
use crate::operation::find_report;
use crate::parameters::Arguments;
use crate::platform::Platform;

/// All rows of a list in a range.
enum List {
    Views(Arc<TrafficReport>),
    Visitors(Arc<TrafficReport>),
    Feedback(Vec<Entry>),
    FeedbackByPage(Vec<PageFeedback>),
    Searches(Arc<SearchReport>),
    Conversations(Arc<Vec<Conversation>>),
}

impl List {
    fn new(
        platform: &Platform,
        project: &str,
        operation: Operation,
        query: &ReportQuery,
    ) -> Result<Self, ApiError> {
        let range = query.range;
        let mut sites = platform.sites.lock();
        Ok(match operation {
            Operation::ListPageViews => Self::Views(sites.views(project, range)),
            Operation::ListVisitors => Self::Visitors(sites.visitors(project, range)),
            Operation::ListFeedback => {
                Self::Feedback(filter(&sites.feedback(project, range), query))
            }
            Operation::GetFeedbackByPage => {
                let entries = filter(&sites.feedback(project, range), query);
                Self::FeedbackByPage(count_by_page(&entries))
            }
            Operation::ListSearches => Self::Searches(sites.searches(project, range)),
            Operation::ListConversations => {
                Self::Conversations(sites.conversations(project, range))
            }
            _ => return Err(ApiError::InvalidRequest("no list has this name")),
        })
    }

    fn len(&self) -> usize {
        match self {
            Self::Views(report) | Self::Visitors(report) => report.rows.len(),
            Self::Feedback(entries) => entries.len(),
            Self::FeedbackByPage(pages) => pages.len(),
            Self::Searches(report) => report.searches.len(),
            Self::Conversations(turns) => turns.len(),
        }
    }

    /// The page that a query requests.
    fn page(
        &self,
        project: &str,
        operation: Operation,
        query: &ReportQuery,
    ) -> Result<CursorPage, ApiError> {
        let list = query.list(operation, project);
        let (count, limit, cursor) = (self.len(), query.limit(), query.cursor());
        match self {
            Self::Feedback(_) | Self::Searches(_) => {
                CursorPage::page_opaque(&list, count, (limit, cursor))
            }
            // A cursor is the id of the last row of a page. If rows share their ids, it also
            // depends on the list.
            Self::Conversations(turns) => CursorPage::page(
                count,
                limit,
                cursor,
                |cursor| {
                    let shown =
                        |turn: &Conversation| turn.cursor(&list).eq_ignore_ascii_case(cursor);
                    turns.iter().position(shown).map(|last| last + 1)
                },
                |rows| Some(turns.get(rows.checked_sub(1)?)?.cursor(&list)),
            ),
            _ => Ok(CursorPage::without_cursor(count, query.offset(), limit)),
        }
    }

    /// The name of the property with the rows, and the JSON of some rows.
    fn rows(&self, range: Range<usize>) -> (&'static str, Vec<String>) {
        match self {
            Self::Views(report) => ("views", to_json(&report.rows[range])),
            Self::Visitors(report) => ("visitors", to_json(&report.rows[range])),
            Self::Feedback(entries) => ("feedback", to_json(&entries[range])),
            Self::FeedbackByPage(pages) => ("feedback", to_json(&pages[range])),
            Self::Searches(report) => ("searches", to_json(&report.searches[range])),
            Self::Conversations(turns) => ("conversations", to_json(&turns[range])),
        }
    }

    /// The properties of a response without those for paging, with their JSON.
    fn properties(&self, range: Range<usize>) -> Vec<(&'static str, String)> {
        let (name, rows) = self.rows(range);
        let rows = (name, format!("[{}]", rows.join(",")));
        match self {
            Self::Views(report) | Self::Visitors(report) => {
                vec![("totals", json(&report.totals)), rows]
            }
            Self::Searches(report) => vec![rows, ("totalSearches", json(&report.total_searches))],
            _ => vec![rows],
        }
    }
}

/// The entries that match the filters of a query, newest first.
fn filter(entries: &[Entry], query: &ReportQuery) -> Vec<Entry> {
    let matching = |entry: &&Entry| entry.matches(query.source(), query.statuses());
    entries.iter().filter(matching).cloned().collect()
}

fn to_json<T: Serialize>(rows: &[T]) -> Vec<String> {
    rows.iter().map(json).collect()
}

fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn object(properties: &[(&str, String)]) -> Response {
    let properties = properties
        .iter()
        .map(|(name, json)| format!("\"{name}\":{json}"));
    let body = format!("{{{}}}", properties.collect::<Vec<_>>().join(","));
    ([(CONTENT_TYPE, "application/json")], body).into_response()
}

/// Responds with a page of a list.
pub(crate) fn list(operation: Operation, request: &ReportRequest) -> Result<Response, ApiError> {
    let query = request.query(operation)?;
    let list = List::new(&request.platform, &request.project, operation, &query)?;
    let page = list.page(&request.project, operation, &query)?;
    request.take_limit()?;
    let has_more = page.rows.end < list.len();
    let mut properties = list.properties(page.rows.clone());
    if matches!(
        list,
        List::Feedback(_) | List::Searches(_) | List::Conversations(_)
    ) {
        properties.push(("nextCursor", json(&request.next_cursor(&query, &page))));
    }
    if !matches!(list, List::Searches(_)) {
        properties.push(("hasMore", json(&has_more)));
    }
    Ok(object(&properties))
}

pub(crate) async fn get_conversation(
    request: ReportRequest,
    Path((_, id)): Path<(String, String)>,
) -> Result<Json<Thread>, ApiError> {
    let sent = [("threadId".to_owned(), id)];
    let (_, problems) = Arguments::read(Operation::GetConversation.declaration().parameters, &sent);
    if !problems.is_empty() {
        return Err(ApiError::InvalidThread(problems));
    }
    let [(_, id)] = sent;
    let thread = request.platform.sites.lock().thread(&request.project, &id);
    let thread = thread.ok_or(ApiError::ThreadNotFound)?;
    request.take_limit()?;
    Ok(Json(thread))
}

pub(crate) async fn get_caller_stats(
    request: ReportRequest,
) -> Result<Json<CallerStats>, ApiError> {
    let query = request.query(Operation::GetCallerStats)?;
    request.take_limit()?;
    let mut sites = request.platform.sites.lock();
    let turns = sites.conversations(&request.project, query.range);
    Ok(Json(CallerStats::of(&turns)))
}

type Pairs = Query<Vec<(String, String)>>;

/// Responds with the named report and all its rows, for the control API.
pub(crate) async fn get_all(
    State(platform): State<Arc<Platform>>,
    Query(pairs): Pairs,
) -> Result<Response, ApiError> {
    let (project, operation, query) = read(&platform, &pairs)?;
    if operation == Operation::GetCallerStats {
        let turns = platform.sites.lock().conversations(project, query.range);
        return Ok(Json(CallerStats::of(&turns)).into_response());
    }
    let list = List::new(&platform, project, operation, &query)?;
    Ok(object(&list.properties(0..list.len())))
}

/// Responds with the rows of the named list, one per line, with the same JSON as in its pages.
pub(crate) async fn get_rows(
    State(platform): State<Arc<Platform>>,
    Query(pairs): Pairs,
) -> Result<Response, ApiError> {
    let (project, operation, query) = read(&platform, &pairs)?;
    let list = List::new(&platform, project, operation, &query)?;
    let (_, rows) = list.rows(0..list.len());
    let lines: String = rows.into_iter().map(|row| row + "\n").collect();
    Ok(([(CONTENT_TYPE, "application/x-ndjson")], lines).into_response())
}

/// The requested project and report.
fn read<'a>(
    platform: &'a Platform,
    pairs: &'a [(String, String)],
) -> Result<(&'a str, Operation, ReportQuery), ApiError> {
    let value = |expected: &str| {
        let found = pairs.iter().find(|(name, _)| name == expected);
        found.map(|(_, value)| value.as_str())
    };
    let operation = value("report").and_then(find_report);
    let operation = operation.ok_or(ApiError::InvalidRequest("no report has this name"))?;
    let projects = &platform.options.projects;
    let project = value("projectId")
        .or(projects.first().map(String::as_str))
        .filter(|project| projects.iter().any(|known| known == project))
        .ok_or(ApiError::UnknownProject)?;
    let query = ReportQuery::read(operation, pairs, platform.clock.now().day())?;
    Ok((project, operation, query))
}
