mod rows;

use quillgate::{Call, Operation, ProjectId};
use quillgate_worker::analytics::export::{Export, read_retry_after};
use quillgate_worker::http::problem::Problem;
use quillgate_worker::http::problem_kind::ProblemKind;
use quillgate_worker::http::response::GatewayResponse;
use serde_json::{Value, json};

use crate::fixtures::{NOW, Predicate, configuration, merge};

/// Reads a request for an export of January. `more` contains further parameters.
fn read(operation: Operation, project: &str, more: &Value) -> Result<Export, Problem> {
    let january = json!({ "format": "ndjson", "dateFrom": "2024-01-01", "dateTo": "2024-02-01" });
    let call = Call::parse(operation.declaration(), &merge(january, more)).unwrap();
    let project = ProjectId::new(project).unwrap();
    let report = operation.exported().unwrap();
    Export::new(report, call, &project, &configuration().analytics, NOW)
}

fn begin(operation: Operation, more: &Value) -> Option<Export> {
    read(operation, "acme", more).ok()
}

fn views(more: &Value) -> Export {
    begin(Operation::ExportPageViews, more).unwrap()
}

fn conversations(more: &Value) -> Export {
    begin(Operation::ExportConversations, more).unwrap()
}

/// Adds an upstream page to an export, and returns the rows that it wrote.
#[track_caller]
fn push(export: &mut Export, page: &str) -> String {
    let mut out = Vec::new();
    export.push_page(page, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn export_requests_full_pages_of_its_report() {
    let more = json!({ "cursor": "1003", "dateFrom": "2024-01-01T10:00:00+02:00" });
    let mut export = read(Operation::ExportPageViews, "acme/ü docs", &more).unwrap();
    assert_eq!(export.query.operation, Operation::ListPageViews);
    assert_eq!((export.query.limit, export.query.offset), (250, 1000));
    let list = "/v1/analytics/acme%2F%C3%BC%20docs/views?dateFrom=2024-01-01T08%3A00%3A00.000Z&dateTo=2024-02-01";
    assert_eq!(export.query.list, list);
    push(&mut export, r#"{ "views": [], "hasMore": true }"#);
    assert_eq!((export.query.offset, &*export.query.list), (1250, list));
    let mut export = begin(Operation::ExportSearches, &json!({})).unwrap();
    let first = &export.query.list;
    assert!(first.ends_with("&limit=100"), "{first}");
    push(&mut export, r#"{ "searches": [], "nextCursor": "n~1" }"#);
    let second = &export.query.list;
    let dates = "dateFrom=2024-01-01&dateTo=2024-02-01";
    assert!(second.contains(dates), "{second}");
    assert!(second.contains("cursor=n~1"), "{second}");
}

#[test]
fn export_head_has_content_type_and_file_name() {
    let fields = |export: &Export| {
        let headers = export.headers();
        let names = ["content-type", "content-disposition", "cache-control"];
        names.map(|name| headers.get(name).unwrap().to_owned())
    };
    let expected = [
        "text/csv; charset=utf-8; header=present",
        "attachment; filename=\"views_acme---docs_2024-01-01T10-00-00-02-00_2024-02-01.csv\"",
        "private, no-store",
    ];
    let more = json!({ "format": "csv", "dateFrom": "2024-01-01T10:00:00+02:00" });
    let csv = read(Operation::ExportPageViews, "acme/ü docs", &more).unwrap();
    assert_eq!(fields(&csv), expected);
    let [content_type, ..] = fields(&views(&json!({ "format": "csv", "cursor": "0" })));
    assert_eq!(content_type, "text/csv; charset=utf-8; header=absent");
    let [content_type, disposition, _] = fields(&conversations(&json!({})));
    assert_eq!(content_type, "application/x-ndjson");
    assert!(disposition.contains("\"conversations_") && disposition.ends_with(".ndjson\""));
}

#[test]
fn only_the_first_part_of_an_export_starts_with_the_column_names() {
    let head = |more: &Value| String::from_utf8(views(more).head()).unwrap();
    let columns = "\u{feff}path,human,ai,total\r\n";
    assert_eq!(head(&json!({ "format": "csv" })), columns);
    assert_eq!(head(&json!({ "format": "csv", "cursor": "0" })), "");
    assert_eq!(head(&json!({})), "");
}

#[test]
fn rejected_export_has_retry_after() {
    let problem = Problem::object_unavailable();
    let refusal = GatewayResponse::problem(&problem, "id");
    assert_eq!(read_retry_after(&refusal), Some(1));
    let silent = GatewayResponse::problem(&Problem::internal(), "id");
    assert_eq!(read_retry_after(&silent), None);
}

const CURSOR: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

fn requested_arguments(export: &Export) -> Vec<(&'static str, &str)> {
    let call = export.pages.next().unwrap();
    let arguments = call.arguments();
    arguments.map(|(own, text)| (own.name, text)).collect()
}

/// Returns an upstream page of views.
fn page(rows: std::ops::Range<u64>, has_more: bool) -> String {
    let rows: Vec<_> = rows.map(|row| json!({ "path": row.to_string() })).collect();
    json!({ "totals": {}, "views": rows, "hasMore": has_more }).to_string()
}

const RANGE: [(&str, &str); 2] = [("dateFrom", "2024-01-01"), ("dateTo", "2024-02-01")];

#[test]
fn an_export_requests_maximum_pages_in_order() {
    let mut export = views(&json!({}));
    let mut out = String::new();
    for (offset, has_more) in [("0", true), ("250", true), ("500", false)] {
        let window = [("limit", "250"), ("offset", offset)];
        assert_eq!(requested_arguments(&export), [RANGE, window].concat());
        assert_eq!(export.cursor, offset);
        out += &push(&mut export, &page(0..250, has_more));
    }
    assert_eq!(export.pages.next(), None);
    assert_eq!(export.rows, 750);
    assert_eq!(out.lines().count(), 750);
}

#[test]
fn an_export_by_cursor_continues_at_the_cursor_of_the_previous_page() {
    let mut export = begin(Operation::ExportSearches, &json!({})).unwrap();
    let expected = [&RANGE[..], &[("limit", "100")]].concat();
    assert_eq!(requested_arguments(&export), expected);
    assert_eq!(export.cursor, "0~");
    let mut out = Vec::new();
    let first = json!({ "searches": [{ "hits": 1 }], "nextCursor": "n~1" }).to_string();
    export.push_page(&first, &mut out).unwrap();
    assert_eq!(export.pages.next().unwrap().text("cursor"), Some("n~1"));
    assert_eq!(export.cursor, "0~n~1");
    let repeated = export.push_page(&first, &mut out);
    let reason = "nextCursor repeats an earlier cursor: \"n~1\"";
    let problem = repeated.unwrap_err();
    assert_eq!(problem.kind, ProblemKind::UpstreamMalformed);
    let detail = format!("Mintlify's list cannot continue: {reason}");
    assert_eq!(problem.operator.as_ref(), Some(&detail));
    assert_eq!(problem.detail, detail);
    assert_eq!(export.cursor, "0~n~1");
    assert_eq!(out, b"{\"hits\":1}\n");
}

#[test]
fn filters_are_sent_with_every_page() {
    let filters = json!({ "source": "contextual", "status": "pending" });
    let export = begin(Operation::ExportFeedback, &filters).unwrap();
    let call = export.pages.next().unwrap();
    assert_eq!(call.text("source"), Some("contextual"));
    assert_eq!(call.text("status"), Some("pending"));
    assert_eq!(call.text("limit"), Some("100"));
}

#[test]
fn an_interrupted_export_resumes_after_the_last_received_row() {
    for (cursor, offset, skipped) in [
        ("0", "0", 0),
        ("249", "0", 249),
        ("250", "250", 0),
        ("1001", "1000", 1),
    ] {
        let mut export = views(&json!({ "cursor": cursor }));
        assert_eq!(export.pages.next().unwrap().text("offset"), Some(offset));
        assert_eq!(export.cursor, cursor);
        push(&mut export, &page(0..250, false));
        assert_eq!(export.rows, 250 - skipped, "from {cursor}");
    }
    let export = conversations(&json!({ "cursor": format!("7~{CURSOR}") }));
    assert_eq!(export.pages.next().unwrap().text("cursor"), Some(CURSOR));
    assert_eq!(export.cursor, format!("7~{CURSOR}"));
    let mut export = views(&json!({ "cursor": "700" }));
    push(&mut export, &page(0..10, false));
    assert_eq!((export.rows, export.pages.next()), (0, None));
}

#[test]
fn an_invalid_cursor_is_rejected() {
    let resumes =
        |operation, cursor: &str| begin(operation, &json!({ "cursor": cursor })).is_some();
    let views = |cursor: &str| resumes(Operation::ExportPageViews, cursor);
    views.rejects(&["x", "-1", "1.5", "9007199254740992", "1~", "+1", " 1"]);
    let searches = |cursor: &str| resumes(Operation::ExportSearches, cursor);
    searches.rejects(&["12", "~a", "x~a", "-1~a"]);
    assert!(!resumes(Operation::ExportConversations, "0~abc"));
}

#[test]
fn a_malformed_or_oversized_page_changes_nothing() {
    let mut export = views(&json!({}));
    let mut out = Vec::new();
    export.push_page(&page(0..250, true), &mut out).unwrap();
    let before = out.clone();
    for bad in ["", "{\"views\":[{},1]}", &page(0..251, true)] {
        assert!(export.push_page(bad, &mut out).is_err());
        assert_eq!((&*export.cursor, export.rows), ("250", 250));
        assert_eq!(out, before);
    }
}

/// Returns a page of turns, each with its minute of 2024-01-20.
fn turns(minutes: &[u32], next: Option<&str>) -> String {
    let turn =
        |minute: &u32| json!({ "id": "t", "timestamp": format!("2024-01-20T00:{minute:02}:00Z") });
    let rows: Vec<_> = minutes.iter().map(turn).collect();
    json!({ "conversations": rows, "nextCursor": next, "hasMore": next.is_some() }).to_string()
}

#[test]
fn an_export_of_events_continues_in_parts_after_a_timeout() {
    let mut export = conversations(&json!({}));
    push(&mut export, &turns(&[9, 8, 7], Some(CURSOR)));
    assert!(export.after_failure(504));
    let [from, to] = ["2024-01-10T12:03:30.001Z", "2024-01-20T00:07:00.001Z"];
    let window = [("dateFrom", from), ("dateTo", to), ("limit", "1000")];
    assert_eq!(requested_arguments(&export), window);

    // Another export resumes within the part.
    let cursor = export.cursor.clone();
    let mut resumed = conversations(&json!({ "cursor": cursor }));
    for export in [&mut export, &mut resumed] {
        assert_eq!(requested_arguments(export), window);
        let text = push(export, &turns(&[7, 6], None));
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(text.contains("00:06"), "{text}");
        assert_eq!(export.pages.next().unwrap().text("dateTo"), Some(from));
    }
}

#[test]
fn an_export_that_resumes_within_a_page_is_not_split() {
    for cursor in ["2~".to_owned(), format!("2~{CURSOR}")] {
        let mut export = conversations(&json!({ "cursor": cursor }));
        assert!(!export.after_failure(504));
        assert_eq!(export.cursor, cursor);
        assert!(!export.after_failure(414));
        push(&mut export, &turns(&[9, 8, 7], None));
        assert_eq!(export.rows, 1);
    }
}

#[test]
fn an_export_of_events_accepts_the_same_rows_as_a_report() {
    let row = |minute| {
        let day = "2024-01-20T00";
        format!(r#"{{"id":"x","id":"t\ud83d","timestamp":"{day}:0{minute}:00Z","query":"\ud83d"}}"#)
    };
    let turns = |rows: &[String]| {
        let rows = rows.join(",");
        format!(r#"{{"conversations":[{rows}],"hasMore":true,"nextCursor":"{CURSOR}"}}"#)
    };
    let mut export = conversations(&json!({}));
    let first = turns(&[row(8), row(7), r#"{"id":7,"timestamp":null}"#.to_owned()]);
    push(&mut export, &first);
    assert_eq!(export.rows, 3);
    assert!(export.after_failure(504));
    // The last id counts, so this row has the key of a received row.
    let same = row(7).replace(r#""id":"x","#, "");
    push(&mut export, &turns(&[same, row(6)]));
    assert_eq!(export.rows, 4);
}

#[test]
fn an_export_is_mixed_if_the_totals_change() {
    let mut export = views(&json!({}));
    let grown = page(250..300, false).replace("{}", r#"{"human":1}"#);
    for (page, is_mixed) in [(page(0..250, true), false), (grown, true)] {
        push(&mut export, &page);
        assert_eq!(export.pages.is_mixed(), is_mixed);
    }
}
