#![expect(
    clippy::unwrap_used,
    reason = "a test that unwraps a missing value fails right there"
)]

use js_sys::Function;
use quillgate::Day;
use quillgate::pages::MAX_EMPTY_PAGES;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_test::wasm_bindgen_test;

use super::*;

fn open_failing_store() -> ArchiveStore {
    let script = "const statement = { bind: () => statement };
      const batch = async () => { throw new Error('no storage'); };
      return { ARCHIVE: { prepare: () => statement, batch } };";
    let env = Function::new_no_args(script).call0(&JsValue::UNDEFINED);
    let env = env.unwrap().unchecked_into();
    ArchiveStore::open(&env).unwrap().unwrap()
}

fn begin_run(store: &ArchiveStore) -> Run<'_> {
    Run {
        store,
        projects: vec![Project {
            name: ProjectId::new("acme").unwrap(),
            id: 1,
            record: ProjectRecord::new(now()),
        }],
        metrics: ArchiveRun::default(),
    }
}

fn yesterday(part: Part) -> Target {
    Target {
        project: 0,
        day: Day::of(now()).minus(1),
        part,
    }
}

#[wasm_bindgen_test]
async fn an_empty_page_that_could_not_be_stored_is_not_counted_again() {
    let store = open_failing_store();
    let mut run = begin_run(&store);
    let reply = FetchedPage {
        text: r#"{"totals":{},"views":[],"hasMore":true}"#.into(),
        rows: 0,
        has_more: true,
        totals: None,
    };
    for _ in 0..=MAX_EMPTY_PAGES {
        let stored = run.store_part(yesterday(Part::Views(0)), &reply).await;
        let error = stored.err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), Some("no storage"));
    }
}

#[wasm_bindgen_test]
async fn a_day_restarts_if_its_last_page_may_have_been_stored() {
    let store = open_failing_store();
    let mut run = begin_run(&store);
    let target = yesterday(Part::Views(1));
    let (record, _) = run.record(target);
    record.next = Part::Views(1);
    record.totals = Some("{}".to_owned());
    let last = FetchedPage {
        text: r#"{"totals":{},"views":[{"path":"/a"}],"hasMore":false}"#.into(),
        rows: 1,
        has_more: false,
        totals: None,
    };
    assert!(run.store_part(target, &last).await.is_err());
    let (record, _) = run.record(target);
    assert_eq!(record.next, Part::Visitors);
}
