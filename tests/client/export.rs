use std::time::Duration;

use crate::fake_host::FakeHost;
use futures_util::TryStreamExt as _;
use quillgate::client::{Client, Error, List, ListEndpoint};
use quillgate::{ExportFormat, ListFeedback, ListPageViews};

/// A page with this text, of a list that has ended.
fn page(text: &str) -> String {
    serde_json::json!({ "status": 200, "text": text }).to_string()
}

async fn export_feedback(rows: &str, format: ExportFormat) -> String {
    let host = FakeHost::new([page(&format!(r#"{{"feedback":[{rows}],"hasMore":false}}"#))]);
    let client = host.client();
    let export = client.analytics().feedback(..).export(format);
    let chunks: Vec<Vec<u8>> = export.into_stream().try_collect().await.unwrap();
    String::from_utf8(chunks.concat()).unwrap()
}

#[tokio::test(start_paused = true)]
async fn cells_of_csv_are_quoted_and_never_formulas() {
    let rows = r#"{"source":"contextual","path":"=1+1","comment":"a \"b\"\nc;d","helpful":true,
        "contact":null,"id":"\ud800"},{"source":"agent","comment":"＠x","other":1}"#;
    let csv = export_feedback(rows, ExportFormat::Csv).await;
    let header = "id,path,comment,createdAt,source,status,helpful,contact,code,filename,lang";
    let first = "\u{fffd},'=1+1,\"a \"\"b\"\"\nc;d\",,contextual,,true,,,,";
    let second = ",,'＠x,,agent,,,,,,";
    assert_eq!(csv, format!("\u{feff}{header}\r\n{first}\r\n{second}\r\n"));
}

#[tokio::test(start_paused = true)]
async fn an_export_without_rows_has_a_header() {
    assert_eq!(export_feedback("", ExportFormat::NdJson).await, "");
    let csv = export_feedback("", ExportFormat::Csv).await;
    let is_header = csv.starts_with("\u{feff}id,path,") && csv.ends_with("lang\r\n");
    assert!(is_header, "{csv}");
}

#[tokio::test(start_paused = true)]
async fn halves_of_surrogate_pairs_skip_no_page() {
    let odd = r#"{"totals":{},"views":[{"path":"/\ud800","\ud801":1}],"\udc00":1,"hasMore":false}"#;
    let csv = "\u{feff}path,human,ai,total\r\n/\u{fffd},,,\r\n";
    let line = "{\"path\":\"/\\ufffd\",\"\\ufffd\":1}\n";
    for (format, chunk) in [(ExportFormat::Csv, csv), (ExportFormat::NdJson, line)] {
        let host = FakeHost::new([page(odd)]);
        let client = host.platform().build().unwrap();
        let views = client.analytics().views(ListPageViews::default());
        let mut export = views.export(format);
        let found = export.next().await.unwrap().unwrap();
        assert_eq!(String::from_utf8(found).unwrap(), chunk);
        assert_eq!(export.next().await, Ok(None));
    }
}

#[tokio::test(start_paused = true)]
async fn an_export_fails_with_the_error_of_a_page_and_can_continue() {
    let limited = r#"{"status":429,"headers":{"retry-after":"3600"}}"#;
    let more = r#"{"totals":{},"views":[{"path":"/a"}],"hasMore":true}"#;
    let last = r#"{"totals":{},"views":[{"path":"/b"}],"hasMore":false}"#;
    let host = FakeHost::new([page(more), limited.to_owned(), page("{}"), page(last)]);
    let client = host.platform().build().unwrap();
    let views = client.analytics().views(ListPageViews::default());
    let mut export = views.export(ExportFormat::NdJson);
    export = export.wait_for_budget(Duration::from_secs(3_599));
    let expected = Ok(Some(b"{\"path\":\"/a\"}\n".to_vec()));
    assert_eq!(export.next().await, expected);
    let error = export.next().await.unwrap_err();
    assert_eq!(error.retry_after(), Some(Duration::from_hours(1)));
    assert!(matches!(export.next().await, Err(Error::Decode { .. })));
    let rest = export.next_request().unwrap();
    let expected = Ok(Some(b"{\"path\":\"/b\"}\n".to_vec()));
    assert_eq!(export.next().await, expected);
    let expected = (Ok(None), None);
    assert_eq!((export.next().await, export.next_request()), expected);
    assert_eq!(rest.offset.map(quillgate::Offset::get), Some(250));
    assert_eq!(host.elapsed(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_resumed_export_continues_the_file() {
    let failed = r#"{"status":500}"#.to_owned();
    let by_offset = [
        page(r#"{"totals":{},"views":[{"path":"/a"}],"hasMore":true}"#),
        failed.clone(),
        page(r#"{"totals":{},"views":[{"path":"/b"}],"hasMore":false}"#),
    ];
    let by_cursor = [
        page(r#"{"searches":[{"searchQuery":"a"}],"nextCursor":"c"}"#),
        failed,
        page(r#"{"searches":[{"searchQuery":"b"}]}"#),
    ];
    let found = export_in_two(by_offset, |client, from| client.analytics().views(from)).await;
    assert_eq!(found, "\u{feff}path,human,ai,total\r\n/a,,,\r\n/b,,,\r\n");
    assert_eq!(
        export_in_two(by_cursor, |client, from| client.analytics().searches(from)).await,
        "\u{feff}searchQuery,hits,ctr,topClickedPage,lastSearchedAt\r\na,,,,\r\nb,,,,\r\n"
    );
}

/// Exports a list, and resumes it after its second page failed.
async fn export_in_two<E: ListEndpoint + Default>(
    responses: [String; 3],
    list: fn(&Client, E) -> List<E>,
) -> String {
    let host = FakeHost::new(responses);
    let client = host.builder().max_retries(0).build().unwrap();
    let mut first = list(&client, E::default()).export(ExportFormat::Csv);
    let mut file = first.next().await.unwrap().unwrap();
    first.next().await.unwrap_err();
    let mut rest = list(&client, first.next_request().unwrap()).export(ExportFormat::Csv);
    file.extend(rest.next().await.unwrap().unwrap());
    String::from_utf8(file).unwrap()
}

#[tokio::test(start_paused = true)]
async fn an_export_without_its_first_page_has_a_header_when_it_is_resumed() {
    let too_long = r#"{"status":504}"#.to_owned();
    let host = FakeHost::new([too_long, r#"{"status":500}"#.to_owned(), page(FEEDBACK_END)]);
    let client = host.builder().max_retries(0).build().unwrap();
    let range = ListFeedback::try_from("2024-01-01".."2024-03-01").unwrap();
    let list = |from| client.analytics().feedback(from).export(ExportFormat::Csv);
    let mut first = list(range.clone());
    first.next().await.unwrap_err();
    let rest = first.next_request().unwrap();
    assert_eq!((&rest.range, &rest.cursor), (&range.range, &None));
    let file = list(rest).next().await.unwrap().unwrap();
    assert!(file.starts_with("\u{feff}id,".as_bytes()));
}

const FEEDBACK_END: &str = r#"{"feedback":[],"hasMore":false}"#;

#[tokio::test(start_paused = true)]
async fn an_export_omits_rows_that_an_earlier_part_of_the_range_contained() {
    let row = |id: u32, day: u32| {
        format!(r#"{{"source":"x","id":"f{id}","createdAt":"2024-01-{day:02}T00:00:00.000Z"}}"#)
    };
    let part = |rows: &[String]| {
        let rows = rows.join(",");
        page(&format!(r#"{{"feedback":[{rows}],"hasMore":false}}"#))
    };
    let rows = [row(3, 12), row(2, 8)].join(",");
    let more = format!(r#"{{"feedback":[{rows}],"hasMore":true,"nextCursor":"c"}}"#);
    let host = FakeHost::new([
        page(&more),
        r#"{"status":504}"#.to_owned(),
        part(&[row(2, 8)]),
        part(&[row(1, 2)]),
        part(&[]),
        part(&[]),
    ]);
    let client = host.builder().max_retries(0).build().unwrap();
    let range = ListFeedback::try_from("2024-01-01".."2024-01-15").unwrap();
    let list = client.analytics().feedback(range);
    let export = list.export(ExportFormat::NdJson);
    let chunks: Vec<Vec<u8>> = export.into_stream().try_collect().await.unwrap();
    let lines = String::from_utf8(chunks.concat()).unwrap();
    let ids: Vec<_> = lines.matches("\"f").collect();
    assert_eq!(ids.len(), 3, "{lines}");
}
