//! The profile `live`.

use std::collections::HashSet;

use serde_json::{Value, json};
use upstream::{Options, Profile};

use crate::client::{Client, REPORTS, VIEWS, fast_options, rows_of};

const WEEK: &str = "dateFrom=2024-01-01&dateTo=2024-01-08";

fn live_options() -> Options {
    Options {
        profile: Profile::Live,
        analytics_limit: 1000,
        ..fast_options()
    }
}

/// Follows a list like a client that sends only `limit` and the encoded cursor. Returns its pages.
fn follow(client: &Client, report: &str, limit: u32) -> Vec<Value> {
    let mut pages = vec![client.report(report, &format!("{WEEK}&limit={limit}"))];
    while let Some(next) = pages[pages.len() - 1]["nextCursor"].as_str() {
        let encoded = next
            .split_once("cursor=")
            .map(|(_, cursor)| cursor.to_owned());
        let cursor = encoded.unwrap_or_else(|| crate::client::encode(next));
        pages.push(client.report(report, &format!("limit={limit}&cursor={cursor}")));
    }
    pages
}

#[test]
fn cursors_continue_a_range_without_its_dates() {
    let client = Client::start(live_options());
    for (report, rows) in [
        ("searches", "searches"),
        ("feedback", "feedback"),
        ("assistant", "conversations"),
    ] {
        let pages = follow(&client, report, 20);
        assert_eq!(
            json!(rows_of(&pages, rows)),
            client.full_report(report, WEEK)[rows]
        );
        let is_url = |page: &&Value| page["nextCursor"].to_string().contains("https://");
        assert_eq!(
            pages.iter().filter(is_url).count(),
            pages.len() / 2,
            "{report}"
        );
    }
}

#[test]
fn a_url_as_a_cursor_makes_the_target_too_long() {
    let client = Client::start(live_options());
    let page = client.report("searches", &format!("{WEEK}&limit=20"));
    let url = page["nextCursor"].as_str().unwrap();
    let (_, cursor) = url.split_once("cursor=").unwrap();
    let status = |cursor: &str| {
        let target = format!("{REPORTS}/searches?{WEEK}&limit=20&cursor={cursor}");
        client.get(&target).status
    };
    assert_eq!(status(cursor), 200);
    let verbatim: String = url
        .bytes()
        .fold(String::new(), |text, byte| text + &format!("%{byte:02X}"));
    assert_eq!(status(&verbatim), 414);
}

#[test]
fn terms_include_their_beginnings() {
    let client = Client::start(live_options());
    let report = client.full_report("searches", WEEK);
    let rows = report["searches"].as_array().unwrap();
    let terms: HashSet<_> = rows
        .iter()
        .filter_map(|row| row["searchQuery"].as_str())
        .collect();
    assert_eq!(terms.len(), 400);
    let is_typed = |term: &&&str| {
        let begins = |other: &&&str| other.starts_with(**term) && other != term;
        terms.iter().any(|other| begins(&other))
    };
    assert!(terms.iter().filter(is_typed).count() > 100);
}

#[test]
fn turns_of_a_thread_share_its_id() {
    let client = Client::start(live_options());
    let report = client.full_report("assistant", WEEK);
    let rows = report["conversations"].as_array().unwrap();
    let ids: HashSet<_> = rows.iter().map(|row| row["id"].as_str().unwrap()).collect();
    assert!(ids.len() < rows.len() * 3 / 4);
    for id in ids {
        let thread = client
            .get(&format!("{REPORTS}/assistant/threads/{id}"))
            .json();
        assert_eq!(thread["threadId"], id);
    }
}

#[test]
fn the_repository_is_a_url() {
    let client = Client::start(live_options());
    let repository = &client.create("fix")["source"]["repository"];
    assert_eq!(*repository, "https://github.com/acme/docs");
}

#[test]
fn the_id_of_a_project_selects_its_plan_and_whether_it_collects_feedback() {
    let projects = ["free-docs", "no-feedback-docs"].map(str::to_owned);
    let client = Client::start(Options {
        projects: projects.to_vec(),
        ..live_options()
    });
    let refusal = client.get("/v1/analytics/free-docs/views");
    assert_eq!(refusal.status, 401);
    assert!(
        refusal.json()["error"]
            .as_str()
            .unwrap()
            .contains("Upgrade")
    );
    for report in ["feedback", "feedback/by-page"] {
        let page = client
            .get(&format!("/v1/analytics/no-feedback-docs/{report}?{WEEK}"))
            .json();
        assert_eq!(page["feedback"], json!([]));
    }
    let views = client
        .get(&format!("/v1/analytics/no-feedback-docs/views?{WEEK}"))
        .json();
    assert_ne!(views["views"], json!([]));
}

#[test]
fn the_edge_blocks_with_text_or_a_challenge() {
    let client = Client::start(live_options());
    client.fault(&json!({ "kind": "edge", "form": "code" }));
    let code = client.get(VIEWS);
    assert_eq!(
        (code.status, code.text.as_str()),
        (403, "error code: 1010\n")
    );
    assert!(code.header("content-type").starts_with("text/plain"));
    client.fault(&json!({ "kind": "edge", "form": "challenge" }));
    let challenge = client.get(VIEWS);
    assert_eq!(
        (challenge.status, challenge.header("cf-mitigated")),
        (403, "challenge")
    );
    assert!(challenge.text.contains("<html"));
    assert_eq!(client.get(VIEWS).status, 200);
}
