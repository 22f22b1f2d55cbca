use std::collections::HashSet;

use serde_json::{Value, json};
use upstream::Options;

use crate::client::{Client, VIEWS, fast_options};

const WEEK: &str = "dateFrom=2024-01-01&dateTo=2024-01-08";

fn page(client: &Client, query: &str) -> Value {
    let response = client.get(&format!("{VIEWS}?{query}"));
    assert_eq!(response.status, 200, "{query}: {}", response.text);
    response.json()
}

fn rows(page: &Value) -> &Vec<Value> {
    page["views"].as_array().unwrap()
}

fn number(value: &Value, name: &str) -> u64 {
    value[name].as_u64().unwrap()
}

#[test]
fn paging_yields_each_row_once_and_the_totals_are_their_sum() {
    let client = Client::start(Options {
        pages: 4000,
        ..fast_options()
    });
    let mut all = Vec::new();
    let mut pages = 0;
    loop {
        let page = page(&client, &format!("{WEEK}&limit=250&offset={}", all.len()));
        pages += 1;
        all.extend(rows(&page).iter().cloned());
        if page["hasMore"] == false {
            break;
        }
    }
    assert_eq!((pages, all.len()), (16, 4000));
    let paths: HashSet<_> = all
        .iter()
        .map(|row| row["path"].as_str().unwrap())
        .collect();
    assert_eq!(paths.len(), 4000);

    let report = client.read_control(&format!("/views?projectId=demo-docs&{WEEK}"));
    assert_eq!(report["views"], json!(all));
    for count in ["human", "ai", "total"] {
        let sum: u64 = all.iter().map(|row| number(row, count)).sum();
        assert_eq!(number(&report["totals"], count), sum, "{count}");
    }
    assert!(
        all.iter()
            .all(|row| number(row, "human") + number(row, "ai") == number(row, "total"))
    );
    assert!(all.iter().all(|row| number(row, "total") > 0));
}

#[test]
fn rows_are_sorted_by_total_and_then_by_path() {
    let client = Client::start(fast_options());
    let page = page(&client, WEEK);
    let key = |row: &Value| {
        (
            std::cmp::Reverse(number(row, "total")),
            row["path"].as_str().unwrap().to_owned(),
        )
    };
    assert!(rows(&page).iter().map(key).is_sorted());
}

#[test]
fn a_page_has_fifty_rows_by_default() {
    let client = Client::start(Options {
        pages: 60,
        ..fast_options()
    });
    let first = page(&client, WEEK);
    assert_eq!((rows(&first).len(), &first["hasMore"]), (50, &json!(true)));
    for (query, count, more) in [
        ("limit=60", 60, false),
        ("limit=59", 59, true),
        ("limit=1&offset=59", 1, false),
        ("limit=10&offset=60", 0, false),
        ("offset=99999999999999999999", 0, false),
    ] {
        let page = page(&client, &format!("{WEEK}&{query}"));
        assert_eq!(
            (rows(&page).len(), &page["hasMore"]),
            (count, &json!(more)),
            "{query}"
        );
        assert_eq!(page["totals"], first["totals"]);
    }
}

#[test]
fn all_projects_share_the_analytics_limit() {
    let client = Client::start(Options {
        analytics_limit: 2,
        ..fast_options()
    });
    assert_eq!(client.get(VIEWS).status, 200);
    assert_eq!(client.get("/v1/analytics/empty-docs/views").status, 200);
    let rejected = client.get(VIEWS);
    assert_eq!(
        (rejected.status, rejected.json()["error"].is_string()),
        (429, true)
    );
    client.control("POST", "/reset", &Value::Null);
    assert_eq!(client.get(VIEWS).status, 200);
}
