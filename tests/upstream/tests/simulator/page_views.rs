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
fn the_same_seed_generates_the_same_data() {
    let start = |seed| {
        Client::start(Options {
            seed,
            ..fast_options()
        })
    };
    let (one, repeated, other) = (start(1), start(1), start(2));
    assert_eq!(page(&one, WEEK), page(&repeated, WEEK));
    assert_ne!(page(&one, WEEK), page(&other, WEEK));
}

#[test]
fn a_longer_range_has_more_views() {
    let client = Client::start(fast_options());
    let total = |query: &str| number(&page(&client, query)["totals"], "total");
    let day = total("dateFrom=2024-01-01&dateTo=2024-01-02");
    let ninety_days = total("dateTo=2024-01-08");
    assert!(0 < day && day < total(WEEK) && total(WEEK) < ninety_days);
    assert_eq!(ninety_days, total("dateFrom=2023-10-10&dateTo=2024-01-08"));
    assert_eq!(
        total("dateFrom=2024-01-01T12:00:00Z&dateTo=2024-01-08T23:59:59.9Z"),
        total(WEEK)
    );
    assert!(total("") > 0);
}

#[test]
fn an_empty_range_and_an_empty_project_have_no_views() {
    let client = Client::start(fast_options());
    let nothing = json!({
        "totals": { "human": 0, "ai": 0, "total": 0 }, "views": [], "hasMore": false,
    });
    assert_eq!(
        page(&client, "dateFrom=2024-01-01&dateTo=2024-01-01"),
        nothing
    );
    assert_eq!(client.get("/v1/analytics/empty-docs/views").json(), nothing);
}

#[test]
fn an_invalid_query_is_rejected_with_details() {
    let client = Client::start(Options {
        analytics_limit: 1,
        ..fast_options()
    });
    for query in [
        "limit=0",
        "limit=251",
        "limit=x",
        "limit=",
        "offset=-1",
        "offset=1.5",
        "dateFrom=2024-02-30",
        "dateTo=tomorrow",
        "dateFrom=",
        "dateFrom=2024-01-02&dateTo=2024-01-01",
    ] {
        let response = client.get(&format!("{VIEWS}?{query}"));
        assert_eq!(response.status, 400, "{query}");
        assert!(response.json()["error"].is_string());
        assert!(
            response.json()["details"][0]["message"].is_string(),
            "{query}"
        );
    }
    let both = client.get(&format!("{VIEWS}?limit=0&offset=-1")).json();
    assert_eq!(both["details"].as_array().unwrap().len(), 2);
    assert_eq!(page(&client, "unknown=parameter")["hasMore"], false);
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

#[test]
fn paths_include_difficult_strings() {
    let client = Client::start(fast_options());
    let page = page(&client, &format!("{WEEK}&limit=250"));
    let any = |test: fn(&str) -> bool| {
        rows(&page)
            .iter()
            .any(|row| test(row["path"].as_str().unwrap()))
    };
    assert!(any(|path| path.starts_with('=')));
    assert!(any(|path| path.contains(',')) && any(|path| path.contains('"')));
    assert!(any(|path| path.contains('%')) && any(|path| !path.is_ascii()));
}
