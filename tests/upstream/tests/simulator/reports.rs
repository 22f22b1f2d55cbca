//! What all reports have in common.

use serde_json::{Value, json};
use upstream::Options;

use crate::client::{Client, REPORTS, VIEWS, quick};

const ALL: [&str; 7] = [
    "views",
    "visitors",
    "feedback",
    "feedback/by-page",
    "searches",
    "assistant",
    "assistant/caller-stats",
];

#[test]
fn an_empty_project_and_a_range_of_no_days_have_nothing() {
    let client = Client::start(quick());
    let zero = json!({ "human": 0, "ai": 0, "total": 0 });
    for (report, nothing) in [
        (
            "views",
            json!({ "totals": zero, "views": [], "hasMore": false }),
        ),
        (
            "visitors",
            json!({ "totals": zero, "visitors": [], "hasMore": false }),
        ),
        (
            "feedback",
            json!({ "feedback": [], "nextCursor": null, "hasMore": false }),
        ),
        (
            "feedback/by-page",
            json!({ "feedback": [], "hasMore": false }),
        ),
        (
            "searches",
            json!({ "searches": [], "totalSearches": 0, "nextCursor": null }),
        ),
        (
            "assistant",
            json!({ "conversations": [], "nextCursor": null, "hasMore": false }),
        ),
        (
            "assistant/caller-stats",
            json!({ "web": 0, "api": 0, "other": 0, "total": 0 }),
        ),
    ] {
        let empty = client.get(&format!("/v1/analytics/empty-docs/{report}"));
        assert_eq!(empty.json(), nothing, "{report}");
        let no_days = client.report(report, "dateFrom=2024-01-01&dateTo=2024-01-01");
        assert_eq!(no_days, nothing, "{report}");
        assert_ne!(client.report(report, ""), nothing, "{report}");
    }
}

#[test]
fn options_set_how_much_there_is() {
    let client = Client::start(Options {
        feedback: 30,
        searches: 7,
        conversations: 60,
        ..quick()
    });
    let range = "dateFrom=2024-01-01&dateTo=2024-01-31";
    let count = |report: &str, rows: &str| {
        let report = client.whole_report(report, range);
        report[rows].as_array().unwrap().len()
    };
    assert!((29..=31).contains(&count("feedback", "feedback")));
    assert_eq!(count("searches", "searches"), 7);
    assert!((59..=61).contains(&count("assistant", "conversations")));
}

#[test]
fn all_reports_share_one_limit() {
    let client = Client::start(Options {
        analytics_limit: 7,
        ..quick()
    });
    let status = |report: &str| client.get(&format!("{REPORTS}/{report}")).status;
    assert_eq!(ALL.map(status), [200; 7]);
    assert_eq!(ALL.map(status), [429; 7]);
}

#[test]
fn a_request_is_checked_key_project_input_and_then_limit() {
    let client = Client::start(Options {
        analytics_limit: 0,
        ..quick()
    });
    for report in ALL {
        let wrong = format!("{report}?dateFrom=x");
        let keyless = client.send("GET", &format!("{REPORTS}/{wrong}"), &[], "");
        assert_eq!(keyless.unwrap().status, 401, "{report}");
        let foreign = client.get(&format!("/v1/analytics/other/{wrong}"));
        assert_eq!(foreign.status, 403, "{report}");
        let invalid = client.get(&format!("{REPORTS}/{wrong}"));
        assert_eq!(
            (invalid.status, invalid.json()),
            (
                400,
                json!({
                    "error": "Invalid query parameters",
                    "details": [{ "message": "dateFrom must be a valid date" }],
                })
            ),
            "{report}"
        );
        let limited = client.get(&format!("{REPORTS}/{report}"));
        assert_eq!(limited.status, 429, "{report}");
    }
}

#[test]
fn wrong_parameters_are_refused_with_details() {
    let client = Client::start(quick());
    for (query, message) in [
        ("views?limit=251", "limit must be an integer from 1 to 250"),
        ("visitors?limit=0", "limit must be an integer from 1 to 250"),
        (
            "visitors?offset=-1",
            "offset must be an integer of at least 0",
        ),
        (
            "feedback?limit=101",
            "limit must be an integer from 1 to 100",
        ),
        (
            "feedback?source=email",
            "source must be one of code_snippet, contextual, agent, thumbs_only",
        ),
        (
            "feedback/by-page?limit=101",
            "limit must be an integer from 1 to 100",
        ),
        ("feedback/by-page?dateTo=x", "dateTo must be a valid date"),
        (
            "searches?limit=101",
            "limit must be an integer from 1 to 100",
        ),
        (
            "assistant?limit=1001",
            "limit must be an integer from 1 to 1000",
        ),
        ("assistant?cursor=2", "cursor must be a ULID"),
        (
            "assistant/caller-stats?dateFrom=2024-01-02&dateTo=2024-01-01",
            "dateFrom must not be after dateTo",
        ),
    ] {
        let answer = client.get(&format!("{REPORTS}/{query}"));
        assert_eq!(answer.status, 400, "{query}");
        assert_eq!(answer.json()["details"], json!([{ "message": message }]));
    }
    for query in ["feedback/by-page?cursor=x&offset=x", "searches?source=x"] {
        assert_eq!(
            client.get(&format!("{REPORTS}/{query}")).status,
            200,
            "{query}"
        );
    }
}

#[test]
fn only_get_is_allowed() {
    let client = Client::start(quick());
    for report in ALL {
        let answer = client.post(&format!("{REPORTS}/{report}"), "{}");
        assert_eq!(answer.status, 405, "{report}");
    }
}

#[test]
fn whole_reports_are_free_and_known_by_name() {
    let client = Client::start(quick());
    for report in ALL {
        client.whole_report(report, "dateTo=2024-01-01");
        let other = client.control(
            "GET",
            &format!("/analytics?report={report}&projectId=other"),
            &Value::Null,
        );
        assert_eq!(other.status, 403);
    }
    assert_eq!(
        client.whole_report("views", "dateTo=2024-01-01"),
        client.read_control("/views?dateTo=2024-01-01")
    );
    for unknown in ["", "?report=clicks", "?report=assistant/threads/{threadId}"] {
        let answer = client.control("GET", &format!("/analytics{unknown}"), &Value::Null);
        assert_eq!(answer.status, 400, "{unknown}");
    }
    assert_eq!(client.counter("requests"), 0);
}

#[test]
fn requests_are_counted_by_operation() {
    let client = Client::start(quick());
    for report in ALL {
        client.report(report, "");
    }
    let id = &client.whole_report("assistant", "")["conversations"][0]["id"];
    client.report(&format!("assistant/threads/{}", id.as_str().unwrap()), "");
    let counters = client.read_control("/counters");
    let counts = counters["byOperation"].as_object().unwrap();
    let reports = counts
        .iter()
        .filter(|(name, _)| name.starts_with("analytics."));
    let reports: Vec<_> = reports.map(|(_, count)| count.clone()).collect();
    assert_eq!(reports, [(); 8].map(|()| json!(1)));
}

#[test]
fn a_fault_can_be_for_one_report_and_for_page_views_by_their_former_name() {
    let client = Client::start(quick());
    for (operation, report) in [
        ("pageViews.list", "views"),
        ("analytics.views", "views"),
        ("analytics.visitors", "visitors"),
        ("analytics.feedback", "feedback"),
        ("analytics.feedbackByPage", "feedback/by-page"),
        ("analytics.searches", "searches"),
        ("analytics.conversations", "assistant"),
        ("analytics.callerStats", "assistant/caller-stats"),
        ("analytics.conversation", "assistant/threads/x"),
    ] {
        let order = json!({ "operation": operation, "fault": { "kind": "empty", "status": 418 } });
        assert_eq!(client.control("POST", "/faults", &order).status, 201);
        assert_ne!(client.get("/v1/analytics/other/nowhere").status, 418);
        let answer = client.get(&format!("{REPORTS}/{report}"));
        assert_eq!(answer.status, 418, "{operation}");
    }
    assert_eq!(client.get(VIEWS).status, 200);
}

#[test]
fn the_rows_of_a_list_are_the_very_json_of_its_pages() {
    let client = Client::start(quick());
    let range = "dateFrom=2024-01-01&dateTo=2024-01-08";
    for (report, member) in [
        ("views", "views"),
        ("visitors", "visitors"),
        ("feedback", "feedback"),
        ("searches", "searches"),
        ("assistant", "conversations"),
    ] {
        let target = format!("/rows?report={report}&{range}");
        let lines = client.control("GET", &target, &Value::Null).text;
        let page = client.get(&format!("{REPORTS}/{report}?{range}&limit=100"));
        let shown = page.json()[member].as_array().unwrap().len();
        assert!(shown > 0 && shown <= lines.lines().count(), "{report}");
        for line in lines.lines().take(shown) {
            assert!(page.text.contains(line), "{report}: {line}");
        }
    }
    for none in ["feedback/by-page", "assistant/caller-stats", "other"] {
        let target = format!("/rows?report={none}&{range}");
        assert_eq!(client.control("GET", &target, &Value::Null).status, 400);
    }
}
