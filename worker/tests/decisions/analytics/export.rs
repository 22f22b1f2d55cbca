//! Exports of reports.

mod pages;
mod rows;

use quillgate::{Call, Operation, ProjectId};
use quillgate_worker::analytics::export::{Export, read_retry_after};
use quillgate_worker::http::problem::Problem;
use quillgate_worker::http::response::GatewayResponse;
use serde_json::{Value, json};

use crate::fixtures::{NOW, configuration};

fn project() -> ProjectId {
    ProjectId::new("acme/ü docs").unwrap()
}

fn read(operation: Operation, more: &Value) -> Result<Export, Problem> {
    let mut params =
        json!({ "format": "csv", "dateFrom": "2024-01-01T10:00:00+02:00", "dateTo": "2024-02-01" });
    for (name, value) in more.as_object().unwrap() {
        params[name] = value.clone();
    }
    let call = Call::parse(operation.declaration(), &params).unwrap();
    let report = operation.exported().unwrap();
    Export::new(report, call, &project(), &configuration().analytics, NOW)
}

fn views(more: &Value) -> Export {
    read(Operation::ExportPageViews, more).unwrap()
}

#[test]
fn export_requests_full_pages_of_its_report() {
    let more = json!({ "cursor": "1003" });
    let mut export = read(Operation::ExportPageViews, &more).unwrap();
    assert_eq!(export.query.operation, Operation::ListPageViews);
    assert_eq!((export.query.limit, export.query.offset), (250, 1000));
    let list = "/v1/analytics/acme%2F%C3%BC%20docs/views?dateFrom=2024-01-01T08%3A00%3A00.000Z&dateTo=2024-02-01";
    assert_eq!(export.query.list, list);
    let mut out = Vec::new();
    export
        .push_page(r#"{ "views": [], "hasMore": true }"#, &mut out)
        .unwrap();
    assert_eq!((export.query.offset, &*export.query.list), (1250, list));
    let mut export = read(Operation::ExportSearches, &json!({})).unwrap();
    let first = &export.query.list;
    assert!(first.ends_with("&limit=100"), "{first}");
    export
        .push_page(r#"{ "searches": [], "nextCursor": "n~1" }"#, &mut out)
        .unwrap();
    let second = &export.query.list;
    let dates = "dateFrom=2024-01-01T08%3A00%3A00.000Z&dateTo=2024-02-01";
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
    assert_eq!(
        fields(&views(&json!({}))),
        [
            "text/csv; charset=utf-8; header=present",
            "attachment; filename=\"views_acme---docs_2024-01-01T10-00-00-02-00_2024-02-01.csv\"",
            "private, no-store",
        ]
    );
    let [content_type, ..] = fields(&views(&json!({ "cursor": "0" })));
    assert_eq!(content_type, "text/csv; charset=utf-8; header=absent");
    let conversations = read(
        Operation::ExportConversations,
        &json!({ "format": "ndjson" }),
    );
    let [content_type, disposition, _] = fields(&conversations.unwrap());
    assert_eq!(content_type, "application/x-ndjson");
    assert!(disposition.contains("\"conversations_") && disposition.ends_with(".ndjson\""));
}

#[test]
fn only_the_first_part_of_an_export_starts_with_the_column_names() {
    let head = |more: &Value| String::from_utf8(views(more).head()).unwrap();
    assert_eq!(head(&json!({})), "\u{feff}path,human,ai,total\r\n");
    assert_eq!(head(&json!({ "cursor": "0" })), "");
    assert_eq!(head(&json!({ "format": "ndjson" })), "");
}

#[test]
fn rejected_export_has_retry_after() {
    let problem = Problem::object_unavailable();
    let refusal = GatewayResponse::problem(&problem, "id");
    assert_eq!(read_retry_after(&refusal), Some(1));
    let silent = GatewayResponse::problem(&Problem::internal(), "id");
    assert_eq!(read_retry_after(&silent), None);
}
