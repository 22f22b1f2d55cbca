//! A table of page views. Rows are added as they arrive.

use quillgate::Error;
use quillgate::{Count, DateBound, DateRange, PageView};
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::spawn_local;
use web_sys::{HtmlElement, HtmlTableRowElement, HtmlTableSectionElement};

use crate::{connect, page};

/// The maximum number of rows in the table. A large site has thousands of pages.
const MAX_ROWS: usize = 500;

/// Shows the page views in the selected date range, up to [`MAX_ROWS`] pages.
pub fn show() {
    page::set_text("views-error", "");
    page::set_text("rows", "");
    page::set_text("views-status", "Loading …");
    spawn_local(async {
        if let Err(error) = fill().await {
            page::set_text("views-status", "");
            page::show_error("views-error", &error);
        }
    });
}

async fn fill() -> Result<(), Error> {
    let range = DateRange::new(bound("dateFrom", "from")?, bound("dateTo", "to")?)?;
    let mut rows = connect()?.analytics().views(range).rows();
    page::set_visible("table", true);
    let mut shown = 0;
    while shown < MAX_ROWS {
        let Some(view) = rows.next().await? else {
            page::set_text("views-status", &format!("{shown} pages"));
            return Ok(());
        };
        // Cannot fail: `index.html` contains the table.
        let _ = add_row(&view);
        shown += 1;
    }
    page::set_text("views-status", &format!("The first {shown} pages"));
    Ok(())
}

/// Returns the date in a field, or `None` for an empty field, which leaves the range open.
fn bound(name: &'static str, field: &str) -> Result<Option<DateBound>, Error> {
    let date = page::value(field);
    if date.is_empty() {
        return Ok(None);
    }
    Ok(Some(DateBound::new(name, date)?))
}

fn add_row(view: &PageView) -> Result<(), JsValue> {
    let rows: HtmlTableSectionElement = page::find("rows")?;
    let row: HtmlTableRowElement = rows.insert_row()?.unchecked_into();
    let count = |count: Option<Count>| count.map_or("–".into(), |count| count.get().to_string());
    let path = view.path.clone().unwrap_or_default();
    for text in [path, count(view.human), count(view.ai), count(view.total)] {
        let cell: HtmlElement = row.insert_cell()?;
        cell.set_text_content(Some(&text));
    }
    Ok(())
}
