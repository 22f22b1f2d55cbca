//! The common behaviour of all reports.

use serde_json::{Value, json};
use upstream::Options;

use crate::client::{Client, REPORTS, VIEWS, fast_options};

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
fn an_empty_project_and_an_empty_range_have_no_data() {
    let client = Client::start(fast_options());
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
fn options_set_the_amount_of_data() {
    let client = Client::start(Options {
        feedback: 30,
        searches: 7,
        conversations: 60,
        ..fast_options()
    });
    let range = "dateFrom=2024-01-01&dateTo=2024-01-31";
    let count = |report: &str, rows: &str| {
        let report = client.full_report(report, range);
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
        ..fast_options()
    });
    let status = |report: &str| client.get(&format!("{REPORTS}/{report}")).status;
    assert_eq!(ALL.map(status), [200; 7]);
    assert_eq!(ALL.map(status), [429; 7]);
}

#[test]
fn a_request_is_checked_for_key_project_input_and_limit_in_this_order() {
    let client = Client::start(Options {
        analytics_limit: 0,
        ..fast_options()
    });
    for report in ALL {
        let wrong = format!("{report}?dateFrom=x");
        let without_key = client.send("GET", &format!("{REPORTS}/{wrong}"), &[], "");
        assert_eq!(without_key.unwrap().status, 401, "{report}");
        let other_project = client.get(&format!("/v1/analytics/other/{wrong}"));
        assert_eq!(other_project.status, 403, "{report}");
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
fn invalid_parameters_are_rejected_with_details() {
    let client = Client::start(fast_options());
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
        let response = client.get(&format!("{REPORTS}/{query}"));
        assert_eq!(response.status, 400, "{query}");
        assert_eq!(response.json()["details"], json!([{ "message": message }]));
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
fn reports_accept_only_get() {
    let client = Client::start(fast_options());
    for report in ALL {
        let response = client.post(&format!("{REPORTS}/{report}"), "{}");
        assert_eq!(response.status, 405, "{report}");
    }
}

#[test]
fn full_reports_are_found_by_name_and_do_not_count_towards_the_limit() {
    let client = Client::start(fast_options());
    for report in ALL {
        client.full_report(report, "dateTo=2024-01-01");
        let other = client.control(
            "GET",
            &format!("/analytics?report={report}&projectId=other"),
            &Value::Null,
        );
        assert_eq!(other.status, 403);
    }
    assert_eq!(
        client.full_report("views", "dateTo=2024-01-01"),
        client.read_control("/views?dateTo=2024-01-01")
    );
    for unknown in ["", "?report=clicks", "?report=assistant/threads/{threadId}"] {
        let response = client.control("GET", &format!("/analytics{unknown}"), &Value::Null);
        assert_eq!(response.status, 400, "{unknown}");
    }
    assert_eq!(client.counter("requests"), 0);
}

#[test]
fn requests_are_counted_by_operation() {
    let client = Client::start(fast_options());
    for report in ALL {
        client.report(report, "");
    }
    let id = &client.full_report("assistant", "")["conversations"][0]["id"];
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
fn a_fault_can_apply_to_one_report() {
    let client = Client::start(fast_options());
    for (operation, report) in [
        ("analytics.views", "views"),
        ("analytics.visitors", "visitors"),
        ("analytics.feedback", "feedback"),
        ("analytics.feedbackByPage", "feedback/by-page"),
        ("analytics.searches", "searches"),
        ("analytics.conversations", "assistant"),
        ("analytics.callerStats", "assistant/caller-stats"),
        ("analytics.conversation", "assistant/threads/x"),
    ] {
        let rule = json!({ "operation": operation, "fault": { "kind": "empty", "status": 418 } });
        assert_eq!(client.control("POST", "/faults", &rule).status, 201);
        assert_ne!(client.get("/v1/analytics/other/nowhere").status, 418);
        let response = client.get(&format!("{REPORTS}/{report}"));
        assert_eq!(response.status, 418, "{operation}");
    }
    assert_eq!(client.get(VIEWS).status, 200);
}

#[test]
fn the_rows_of_a_list_have_the_json_of_its_pages() {
    let client = Client::start(fast_options());
    let range = "dateFrom=2024-01-01&dateTo=2024-01-08";
    for (report, rows_field) in [
        ("views", "views"),
        ("visitors", "visitors"),
        ("feedback", "feedback"),
        ("searches", "searches"),
        ("assistant", "conversations"),
    ] {
        let target = format!("/rows?report={report}&{range}");
        let lines = client.control("GET", &target, &Value::Null).text;
        let page = client.get(&format!("{REPORTS}/{report}?{range}&limit=100"));
        let row_count = page.json()[rows_field].as_array().unwrap().len();
        assert!(
            row_count > 0 && row_count <= lines.lines().count(),
            "{report}"
        );
        for line in lines.lines().take(row_count) {
            assert!(page.text.contains(line), "{report}: {line}");
        }
    }
    for none in ["feedback/by-page", "assistant/caller-stats", "other"] {
        let target = format!("/rows?report={none}&{range}");
        assert_eq!(client.control("GET", &target, &Value::Null).status, 400);
    }
}
