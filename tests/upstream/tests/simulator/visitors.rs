use std::collections::HashMap;

use serde_json::{Value, json};

use crate::client::{Client, fast_options};

const WEEK: &str = "dateFrom=2024-01-01&dateTo=2024-01-08";

fn count(of: &Value, name: &str) -> u64 {
    of[name].as_u64().unwrap()
}

#[test]
fn a_page_has_at_most_as_many_visitors_as_views() {
    let client = Client::start(fast_options());
    let views = client.report("views", &format!("{WEEK}&limit=250"));
    let views: HashMap<_, _> = views["views"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["path"].as_str().unwrap(), row))
        .collect();
    let visitors = client.report("visitors", &format!("{WEEK}&limit=250"));
    let rows = visitors["visitors"].as_array().unwrap();
    assert_eq!((rows.len(), &visitors["hasMore"]), (40, &json!(false)));
    for row in rows {
        let views = views[row["path"].as_str().unwrap()];
        for name in ["human", "ai", "total"] {
            assert!(count(row, name) <= count(views, name), "{row}");
        }
    }
}

#[test]
fn visitors_counted_as_human_and_ai_are_deduplicated() {
    let client = Client::start(fast_options());
    let report = client.report("visitors", &format!("{WEEK}&limit=250"));
    let rows = report["visitors"].as_array().unwrap();
    for of in rows.iter().chain([&report["totals"]]) {
        let (human, ai, total) = (count(of, "human"), count(of, "ai"), count(of, "total"));
        assert!(total <= human + ai && total >= human.max(ai), "{of}");
    }
    let overlaps = |row: &&Value| count(row, "total") < count(row, "human") + count(row, "ai");
    assert!(rows.iter().any(|row| overlaps(&row)));
    let sum: u64 = rows.iter().map(|row| count(row, "total")).sum();
    assert!(count(&report["totals"], "total") < sum);
}

#[test]
fn paging_by_offset_yields_the_full_report() {
    let client = Client::start(fast_options());
    let full = client.full_report("visitors", WEEK);
    let mut rows = Vec::new();
    loop {
        let page = client.report("visitors", &format!("{WEEK}&limit=7&offset={}", rows.len()));
        assert_eq!(page["totals"], full["totals"]);
        rows.extend(page["visitors"].as_array().unwrap().iter().cloned());
        if page["hasMore"] == false {
            break;
        }
    }
    assert_eq!(full["visitors"], json!(rows));
    let order = |row: &Value| {
        let path = row["path"].as_str().unwrap().to_owned();
        (std::cmp::Reverse(count(row, "total")), path)
    };
    assert!(rows.iter().map(order).is_sorted());
}
