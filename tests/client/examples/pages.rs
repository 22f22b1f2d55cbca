use quillgate::{Client, Error};

pub async fn rows_per_page(client: &Client) -> Result<Vec<usize>, Error> {
    let mut pages = client.analytics().views(..).pages();
    let mut rows = Vec::new();
    while let Some(page) = pages.next().await? {
        rows.push(page.views.len());
    }
    if pages.is_mixed() {
        eprintln!("the counts changed meanwhile, so rows can be missing");
    }
    Ok(rows)
}
