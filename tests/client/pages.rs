use crate::fake_host::FakeHost;
use futures_util::{StreamExt as _, TryStreamExt as _};
use quillgate::client::{Client, List};
use quillgate::declaration::ParameterIn;
use quillgate::{Count, Endpoint as _, ListPageViews, Offset, PageSize};

fn page(rows: usize, has_more: bool) -> String {
    let views = vec![r#"{"path":"/"}"#; rows].join(",");
    format!(
        r#"{{"status":200,"headers":{{"x-request-id":"r-4"}},"json":{{"totals":{{"total":9}},"views":[{views}],"hasMore":{has_more}}}}}"#
    )
}

fn views(client: &Client, list: ListPageViews) -> List<ListPageViews> {
    client.analytics().views(list)
}

/// A year in pages of 2 rows.
fn year() -> ListPageViews {
    let mut list = ListPageViews::try_from("2023-01-01".."2024-01-01").unwrap();
    list.limit = Some(PageSize::new(2).unwrap());
    list
}

fn query(host: &FakeHost, at: usize) -> String {
    host.target(at).replace("/v1/analytics/acme/views", "")
}

#[tokio::test(start_paused = true)]
async fn paging_continues_until_there_are_no_more_pages() {
    let host = FakeHost::new([page(2, true), page(2, true), page(1, false)]);
    let mut pages = views(&host.client(), year()).pages();
    for (at, rows, offset, next) in [(0, 2, 0, Some(2)), (1, 2, 2, Some(4)), (2, 1, 4, None)] {
        let page = pages.next().await.unwrap().unwrap();
        assert_eq!(page.views.len(), rows);
        let totals = page.totals.unwrap();
        assert_eq!(totals.total.map(Count::get), Some(9));
        assert_eq!(totals.human, None);
        let expected = format!("?dateFrom=2023-01-01&dateTo=2024-01-01&limit=2&offset={offset}");
        assert_eq!(query(&host, at), expected);
        let rest = next.map(|next| {
            let mut rest = year();
            rest.offset = Some(Offset::new(next).unwrap());
            rest
        });
        assert_eq!(pages.next_request(), rest);
    }
    for _ in 0..2 {
        assert_eq!(pages.next().await, Ok(None));
    }
    assert_eq!(host.count(), 3);
    host.assert_idle();
}

#[tokio::test(start_paused = true)]
async fn paging_resumes_from_a_stored_request() {
    let host = FakeHost::new([page(2, true), page(1, false)]);
    let client = host.client();
    let mut pages = views(&client, year()).pages();
    pages.next().await.unwrap();
    // Stored as JSON, as an application would.
    let call = pages.next_request().unwrap().to_call();
    let stored = call.to_json(ParameterIn::Query);
    let stored: serde_json::Value = serde_json::from_str(&stored).unwrap();
    let rest = ListPageViews::parse(&stored).unwrap();
    let mut pages = views(&client, rest).pages();
    pages.next().await.unwrap();
    let expected = "?dateFrom=2023-01-01&dateTo=2024-01-01&limit=2&offset=2";
    assert_eq!(query(&host, 1), expected);
    assert_eq!(pages.next_request(), None);
}

#[tokio::test(start_paused = true)]
async fn a_stream_yields_every_row_and_requests_pages_on_demand() {
    let host = FakeHost::new([page(2, true), page(1, false)]);
    let mut rows = views(&host.client(), year()).rows().into_stream();
    assert_eq!(host.count(), 0);
    rows.next().await.unwrap().unwrap();
    rows.next().await.unwrap().unwrap();
    assert_eq!(host.count(), 1);
    let rest: Vec<_> = rows.try_collect().await.unwrap();
    assert_eq!(rest.len(), 1);
    assert_eq!(host.count(), 2);
    host.assert_idle();
}

#[tokio::test(start_paused = true)]
async fn rows_resume_after_the_last_row_or_at_its_page() {
    let host = FakeHost::new([page(3, true), page(1, false)]);
    let mut rows = host.client().analytics().views(..).rows();
    let mut offsets = Vec::new();
    while rows.next().await.unwrap().is_some() {
        let next = rows.next_request();
        offsets.push(next.map(|next| next.offset.unwrap().get()));
    }
    assert_eq!(offsets, [Some(1), Some(2), Some(250), None]);

    let jobs = |cursor: &str| {
        let jobs = r#"[{"id":"j1"},{"id":"j2"}]"#;
        format!(r#"{{"status":200,"json":{{"jobs":{jobs},"nextCursor":{cursor}}}}}"#)
    };
    let host = FakeHost::new([jobs("\"b\""), jobs("null")]);
    let mut rows = host.client().agent_jobs().list(..).rows();
    let mut cursors = Vec::new();
    while rows.next().await.unwrap().is_some() {
        let next = rows.next_request();
        cursors.push(next.map(|next| next.cursor.map(|cursor| cursor.as_str().to_owned())));
    }
    let b = || Some("b".to_owned());
    assert_eq!(cursors, [Some(None), Some(b()), Some(b()), None]);
}
