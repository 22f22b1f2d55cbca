//! Page views: reading the query and cutting out a page.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use serde::Serialize;

use crate::auth::Authorized;
use crate::data::{Range, Row, Views};
use crate::date::Day;
use crate::platform::Platform;
use crate::refusal::Refusal;

const DEFAULT_LIMIT: usize = 50;
const MAX_LIMIT: usize = 250;
const OPEN_START_DAYS: i64 = 90;

/// All analytics operations share it, for every project.
const ORGANISATION: &str = "organisation";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PageViews {
    totals: Views,
    views: Vec<Row>,
    has_more: bool,
}

pub(crate) async fn list(
    State(platform): State<Arc<Platform>>,
    Authorized { project }: Authorized,
    Query(pairs): Query<Vec<(String, String)>>,
) -> Result<Json<PageViews>, Refusal> {
    let now = platform.clock.now();
    let Selection {
        range,
        limit,
        offset,
    } = Selection::read(&pairs, now.day())?;
    platform.analytics_limit.lock().take(ORGANISATION, now)?;
    let report = platform.sites.lock().report(&project, range);
    let views: Vec<Row> = report
        .rows
        .iter()
        .skip(offset)
        .take(limit)
        .cloned()
        .collect();
    Ok(Json(PageViews {
        totals: report.totals,
        has_more: offset.saturating_add(views.len()) < report.rows.len() && !views.is_empty(),
        views,
    }))
}

/// What a query asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Selection {
    pub(crate) range: Range,
    limit: usize,
    offset: usize,
}

impl Selection {
    /// Reads the query, and names everything in it that is wrong.
    pub(crate) fn read(pairs: &[(String, String)], today: Day) -> Result<Self, Refusal> {
        let value = |name| {
            pairs
                .iter()
                .find(|(key, _)| key == name)
                .map(|(_, value)| value.as_str())
        };
        let mut problems = Vec::new();
        let mut note = |problem| problems.push(problem);

        let from =
            value("dateFrom").map(|text| Day::parse(text).ok_or("dateFrom must be a valid date"));
        let to = value("dateTo").map(|text| Day::parse(text).ok_or("dateTo must be a valid date"));
        let limit = value("limit").map(|text| {
            let limit = whole_number(text).filter(|limit| (1..=MAX_LIMIT).contains(limit));
            limit.ok_or("limit must be an integer from 1 to 250")
        });
        let offset = value("offset")
            .map(|text| whole_number(text).ok_or("offset must be an integer of at least 0"));

        let from = from.transpose().unwrap_or_else(|problem| {
            note(problem);
            None
        });
        let to = to.transpose().unwrap_or_else(|problem| {
            note(problem);
            None
        });
        let limit = limit.transpose().unwrap_or_else(|problem| {
            note(problem);
            None
        });
        let offset = offset.transpose().unwrap_or_else(|problem| {
            note(problem);
            None
        });
        if let (Some(from), Some(to)) = (from, to)
            && from > to
        {
            note("dateFrom must not be after dateTo");
        }
        if !problems.is_empty() {
            return Err(Refusal::InvalidQuery(problems));
        }

        let to = to.unwrap_or(today.plus(1));
        let from = from.unwrap_or(to.plus(-OPEN_START_DAYS));
        Ok(Self {
            range: Range { from, to },
            limit: limit.unwrap_or(DEFAULT_LIMIT),
            offset: offset.unwrap_or(0),
        })
    }
}

/// Digits only; more than fit into a number are as good as the largest.
fn whole_number(text: &str) -> Option<usize> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(query: &[(&str, &str)]) -> Result<Selection, Refusal> {
        let pairs: Vec<_> = query
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        Selection::read(&pairs, day("2024-03-31"))
    }

    fn day(text: &str) -> Day {
        Day::parse(text).expect("a date")
    }

    #[test]
    fn an_empty_query_asks_for_the_first_page_of_ninety_days() {
        let selection = read(&[]).expect("valid");
        assert_eq!(
            selection.range,
            Range {
                from: day("2024-01-02"),
                to: day("2024-04-01")
            }
        );
        assert_eq!((selection.limit, selection.offset), (50, 0));
    }

    #[test]
    fn a_start_in_the_future_is_an_empty_range() {
        let selection = read(&[("dateFrom", "2030-01-01")]).expect("valid");
        assert!(selection.range.from > selection.range.to);
    }

    #[test]
    fn every_problem_is_named() {
        let query = [
            ("limit", "0"),
            ("offset", "-1"),
            ("dateFrom", "x"),
            ("dateTo", "2024-02-30"),
        ];
        let Err(Refusal::InvalidQuery(problems)) = read(&query) else {
            panic!("must be refused");
        };
        assert_eq!(problems.len(), 4);
    }

    #[test]
    fn limits_and_offsets_are_whole_numbers_in_bounds() {
        for (name, value) in [
            ("limit", "251"),
            ("limit", ""),
            ("limit", "1.0"),
            ("limit", "+5"),
            ("limit", "1e2"),
            ("limit", "99999999999999999999999"),
            ("offset", ""),
            ("offset", "0x1"),
        ] {
            assert!(read(&[(name, value)]).is_err(), "{name}={value}");
        }
        assert!(read(&[("limit", "250"), ("offset", "99999999999999999999999")]).is_ok());
    }

    #[test]
    fn a_range_may_be_empty_but_not_reversed() {
        assert!(read(&[("dateFrom", "2024-01-02"), ("dateTo", "2024-01-02")]).is_ok());
        assert!(read(&[("dateFrom", "2024-01-03"), ("dateTo", "2024-01-02")]).is_err());
    }
}
