#![expect(
    clippy::unwrap_used,
    reason = "a failed unwrap fails the test at its line"
)]

use quillgate::{Call, Operation, ProjectId, RateLimitPolicy};
use serde_json::json;
use wasm_bindgen::JsCast;
use wasm_bindgen_test::wasm_bindgen_test;

use super::*;
use crate::analytics::analytics_settings::AnalyticsSettings;
use crate::budget::limits::Limits;
use crate::budget::reservation::BudgetRequest;
use crate::upstream::request::RequestIds;

fn begin_export(prefetch: Prefetch) -> ExportStream {
    let unset = |_: &str| None;
    let settings = AnalyticsSettings::read(&unset, &Limits::read(&unset).unwrap()).unwrap();
    let range = json!({ "format": "csv", "dateFrom": "2024-01-01", "dateTo": "2024-02-01" });
    let call = Call::parse(Operation::ExportPageViews.declaration(), &range).unwrap();
    let (project, now) = (ProjectId::new("acme").unwrap(), now());
    let export = Export::new(Operation::ListPageViews, call, &project, &settings, now).unwrap();
    ExportStream {
        env: JsValue::UNDEFINED.unchecked_into(),
        report: ReportCall {
            ids: RequestIds::begin("c0ffee".to_owned(), "acme"),
            budget: BudgetRequest::of_all(RateLimitPolicy::Analytics),
            query: export.query.clone(),
            revalidate: false,
            accepts_stale: false,
            checks_rest: false,
        },
        export,
        expires: now.plus(Millis::from_seconds(60)),
        session: None,
        started: now,
        requests: 0,
        pages: 0,
        metrics: RequestMetrics::default(),
        budget: HeaderFields::default(),
        head: Vec::new(),
        output: Vec::new(),
        prefetch: Some(prefetch),
        is_ended: false,
    }
}

#[wasm_bindgen_test]
async fn only_an_old_prefetch_that_failed_is_requested_again() {
    for (since, is_repeated) in [(Millis(0), true), (now(), false)] {
        let reply = Promise::reject(&"the object was reset".into()).into();
        let mut stream = begin_export(Prefetch { reply, since });
        let fetched = stream.fetch_rows().await;
        assert_eq!(matches!(fetched, Ok(None)), is_repeated);
        assert_eq!(fetched.is_err(), !is_repeated);
    }
}
