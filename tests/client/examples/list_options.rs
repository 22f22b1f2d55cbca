use quillgate::client::{AbortSignal, Client, Error, Headers};
use quillgate::{CallOptions, ListPageViews, Millis};

pub async fn count_pages(client: &Client, signal: AbortSignal) -> Result<usize, Error> {
    let headers = Headers::new();
    headers.set("x-purpose", "export");
    let mut rows = client
        .analytics()
        .views(ListPageViews::default())
        .with_options(CallOptions {
            timeout: Millis::from_seconds(10),
            max_retries: 5,
            ..CallOptions::default()
        })
        .with_signal(signal)
        .with_headers(&headers)
        .rows()?;
    let mut pages = 0;
    while rows.next().await?.is_some() {
        pages += 1;
    }
    Ok(pages)
}
