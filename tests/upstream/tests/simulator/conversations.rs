use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};
use upstream::Options;

use crate::client::{Client, REPORTS, fast_options, rows_of};

const RANGE: &str = "dateFrom=2024-01-01&dateTo=2024-03-01";
const UNKNOWN: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

fn all_turns(client: &Client) -> Vec<Value> {
    let report = client.full_report("assistant", RANGE);
    report["conversations"].as_array().unwrap().clone()
}

fn thread(client: &Client, id: &str) -> Value {
    client.report(&format!("assistant/threads/{id}"), "")
}

#[test]
fn cursors_page_through_all_turns_newest_first() {
    let client = Client::start(fast_options());
    let pages = client.cursor_pages("assistant", &format!("{RANGE}&limit=500"));
    let rows = rows_of(&pages, "conversations");
    assert!((1195..=1205).contains(&rows.len()), "{}", rows.len());
    assert_eq!(pages.len(), 3);
    let (last, others) = pages.split_last().unwrap();
    assert_eq!(
        (&last["hasMore"], &last["nextCursor"]),
        (&json!(false), &Value::Null)
    );
    for page in others {
        assert_eq!(page["hasMore"], true);
        assert_eq!(page["nextCursor"], page["conversations"][499]["id"]);
    }
    let ids: Vec<_> = rows.iter().map(|row| row["id"].as_str().unwrap()).collect();
    let times = rows.iter().map(|row| row["timestamp"].as_str().unwrap());
    assert!(ids.is_sorted_by(|a, b| a > b) && times.is_sorted_by(|a, b| a > b));
    assert!(ids.iter().all(|id| id.len() == 26));
    assert_eq!(rows, all_turns(&client));
}

#[test]
fn a_page_has_a_hundred_turns_by_default_and_at_most_a_thousand() {
    let client = Client::start(fast_options());
    let count = |query: &str| {
        let page = client.report("assistant", &format!("{RANGE}{query}"));
        page["conversations"].as_array().unwrap().len()
    };
    assert_eq!(
        (count(""), count("&limit=1"), count("&limit=1000")),
        (100, 1, 1000)
    );
    let response = client.get(&format!("{REPORTS}/assistant?limit=1001"));
    assert_eq!(response.status, 400);
}

#[test]
fn a_cursor_that_is_not_a_row_of_the_list_is_rejected() {
    let client = Client::start(fast_options());
    let id = all_turns(&client)[5]["id"].as_str().unwrap().to_owned();
    let rejection = |query: &str| {
        let response = client.get(&format!("{REPORTS}/assistant?{query}"));
        assert_eq!(response.status, 400, "{query}");
        response.json()["details"][0]["message"].clone()
    };
    let unknown_cursor = "cursor does not belong to this list";
    assert_eq!(
        rejection(&format!("{RANGE}&cursor=x")),
        "cursor must be a ULID"
    );
    assert_eq!(
        rejection(&format!("{RANGE}&cursor={UNKNOWN}")),
        unknown_cursor
    );
    assert_eq!(
        rejection(&format!("dateTo=2020-01-01&cursor={id}")),
        unknown_cursor
    );
    let page = client.report("assistant", &format!("{RANGE}&limit=3&cursor={id}"));
    assert_eq!(page["conversations"], json!(all_turns(&client)[6..9]));
}

#[test]
fn a_thread_has_all_its_turns_and_is_found_by_any_of_them() {
    let client = Client::start(Options {
        conversations: 60,
        analytics_limit: 1000,
        ..fast_options()
    });
    let mut turns_of = HashMap::<String, Vec<Value>>::new();
    for turn in all_turns(&client).into_iter().rev() {
        let thread = thread(&client, turn["id"].as_str().unwrap());
        let id = thread["threadId"].as_str().unwrap().to_owned();
        turns_of.entry(id).or_default().push(turn);
    }
    let lengths: HashSet<_> = turns_of.values().map(Vec::len).collect();
    assert_eq!(lengths, HashSet::from([1, 2, 3]));
    let three = turns_of.iter().find(|(_, turns)| turns.len() == 3);
    let (id, turns) = three.unwrap();
    let thread = thread(&client, id);
    assert_eq!(thread["createdAt"], turns[0]["timestamp"]);
    assert_eq!(id, turns[0]["id"].as_str().unwrap());
    let messages = thread["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 6);
    for (pair, turn) in messages.chunks(2).zip(turns) {
        assert_eq!(
            (&pair[0]["role"], &pair[1]["role"]),
            (&json!("user"), &json!("assistant"))
        );
        assert_eq!(
            (&pair[0]["content"], &pair[1]["content"]),
            (&turn["query"], &turn["response"])
        );
        assert_eq!(pair[0]["createdAt"], turn["timestamp"]);
    }
}

#[test]
fn an_unknown_thread_is_not_found_and_does_not_count_towards_the_limit() {
    let client = Client::start(Options {
        analytics_limit: 1,
        ..fast_options()
    });
    let get = |id: &str| client.get(&format!("{REPORTS}/assistant/threads/{id}"));
    let (unknown, malformed) = (get(UNKNOWN), get("x"));
    assert_eq!((unknown.status, malformed.status), (404, 400));
    assert_eq!(
        unknown.json(),
        json!({
            "error": "Thread not found",
            "details": [{ "message": "no thread of the project has this id" }],
        })
    );
    assert_eq!(
        malformed.json(),
        json!({
            "error": "Invalid thread ID",
            "details": [{ "message": "threadId must be a ULID" }],
        })
    );
    let id = all_turns(&client)[0]["id"].as_str().unwrap().to_owned();
    let other = client.get(&format!("/v1/analytics/empty-docs/assistant/threads/{id}"));
    assert_eq!(other.status, 404);
    assert_eq!((get(&id).status, get(&id).status), (200, 429));
}

#[test]
fn caller_stats_add_up_to_the_turns_of_the_range() {
    let client = Client::start(fast_options());
    let stats = client.report("assistant/caller-stats", RANGE);
    let count = |name: &str| stats[name].as_u64().unwrap();
    assert_eq!(
        count("total"),
        u64::try_from(all_turns(&client).len()).unwrap()
    );
    assert_eq!(count("web") + count("api") + count("other"), count("total"));
    assert!(
        ["web", "api", "other"]
            .into_iter()
            .all(|name| count(name) > 0)
    );
    assert_eq!(stats, client.full_report("assistant/caller-stats", RANGE));
}
