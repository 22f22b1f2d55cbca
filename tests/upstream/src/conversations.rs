//! Conversations with the assistant: turns, threads and caller stats.

use axum::Json;
use axum::extract::Path;
use quillgate::Operation;
use serde::Serialize;

use crate::analytics::ReportRequest;
use crate::api_error::ApiError;
use crate::cursor::CursorPage;
use crate::data::{CallerStats, Conversation, Thread};
use crate::parameters::Arguments;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ConversationPage {
    conversations: Vec<Conversation>,
    next_cursor: Option<String>,
    has_more: bool,
}

/// A cursor is the id of the last row of a page. If rows share their ids, it also depends on the
/// list.
pub(crate) async fn list(request: ReportRequest) -> Result<Json<ConversationPage>, ApiError> {
    let query = request.query(Operation::ListConversations)?;
    let turns = request.sites().conversations(&request.project, query.range);
    let list = query.list(Operation::ListConversations, &request.project);
    let page = CursorPage::page(
        turns.len(),
        query.limit(),
        query.cursor(),
        |cursor| {
            let shown = |turn: &Conversation| turn.cursor(&list).eq_ignore_ascii_case(cursor);
            turns.iter().position(shown).map(|last| last + 1)
        },
        |rows| Some(turns.get(rows.checked_sub(1)?)?.cursor(&list)),
    )?;
    request.take_limit()?;
    let page_body = ConversationPage {
        conversations: turns[page.rows.clone()].to_vec(),
        next_cursor: request.next_cursor(&query, &page),
        has_more: page.next.is_some(),
    };
    Ok(Json(page_body))
}

pub(crate) async fn get(
    request: ReportRequest,
    Path((_, id)): Path<(String, String)>,
) -> Result<Json<Thread>, ApiError> {
    let sent = [("threadId".to_owned(), id)];
    let (_, problems) = Arguments::read(Operation::GetConversation.declaration().parameters, &sent);
    if !problems.is_empty() {
        return Err(ApiError::InvalidThread(problems));
    }
    let [(_, id)] = sent;
    let thread = request.sites().thread(&request.project, &id);
    let thread = thread.ok_or(ApiError::ThreadNotFound)?;
    request.take_limit()?;
    Ok(Json(thread))
}

pub(crate) async fn get_caller_stats(
    request: ReportRequest,
) -> Result<Json<CallerStats>, ApiError> {
    let query = request.query(Operation::GetCallerStats)?;
    request.take_limit()?;
    let turns = request.sites().conversations(&request.project, query.range);
    Ok(Json(CallerStats::of(&turns)))
}
