//! The common behaviour of all reports.

use serde_json::json;
use upstream::Options;

use crate::client::{Client, REPORTS, fast_options};

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
