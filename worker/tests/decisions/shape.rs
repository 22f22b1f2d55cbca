//! Whether JSON has the shape that the core describes: as the core's own types are read.

use proptest::prelude::*;
use quillgate::schema::Described as _;
use quillgate::{AgentJob, JobPage, PageViews};
use quillgate_worker::shape::is_of_kind;
use serde_json::{Value, json};

fn is_job(value: &Value) -> bool {
    is_of_kind(value, &AgentJob::KIND)
}

fn is_page(value: &Value) -> bool {
    is_of_kind(value, &PageViews::KIND)
}

/// A page as the upstream sends it.
fn page() -> Value {
    json!({
        "totals": { "human": 7, "ai": 2, "total": 9 },
        "views": [{ "path": "/a", "human": 7, "ai": 2, "total": 9 }],
        "hasMore": true,
    })
}

#[test]
fn a_job_may_leave_everything_out_and_have_more() {
    for value in [
        json!({}),
        json!({ "id": "j1", "status": "active" }),
        json!({ "id": null, "status": null, "prLink": null, "source": null }),
        json!({ "status": "a status that is not known" }),
        json!({ "id": "j1", "more": { "anything": [1, null] } }),
    ] {
        assert!(is_job(&value), "{value}");
    }
}

#[test]
fn a_value_of_another_type_is_not_a_job() {
    for value in [
        json!(null),
        json!([]),
        json!("j1"),
        json!([{ "id": "j1" }]),
        json!({ "id": 5 }),
        json!({ "id": ["j1"] }),
        json!({ "status": true }),
        json!({ "prLink": {} }),
        json!({ "source": "main" }),
        json!({ "source": [] }),
    ] {
        assert!(!is_job(&value), "{value}");
    }
}

#[test]
fn a_page_has_rows_totals_and_whether_there_is_more() {
    assert!(is_page(&page()));
    for (name, value) in [
        ("views", json!(null)),
        ("views", json!({})),
        ("views", json!([null])),
        ("views", json!(["/a"])),
        ("hasMore", json!(null)),
        ("hasMore", json!("true")),
        ("hasMore", json!(1)),
        ("totals", json!(null)),
        ("totals", json!([])),
    ] {
        let mut page = page();
        page[name] = value;
        assert!(!is_page(&page), "{page}");
        page.as_object_mut().unwrap().remove(name);
        assert!(!is_page(&page), "{page}");
    }
}

/// Values that stand in the place of a count.
const COUNTS: [&str; 12] = [
    "0",
    "7",
    "7.0",
    "7e0",
    "-0.0",
    "9007199254740991",
    "9007199254740992",
    "18446744073709551615",
    "-1",
    "7.5",
    "1e300",
    "\"7\"",
];

#[test]
fn a_count_is_an_integer_that_every_reader_takes_exactly() {
    let expected = [
        true, true, true, true, true, true, false, false, false, false, false, false,
    ];
    for (text, expected) in COUNTS.into_iter().zip(expected) {
        let mut page = page();
        page["totals"]["human"] = serde_json::from_str(text).unwrap();
        assert_eq!(is_page(&page), expected, "{text}");
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0..COUNTS.len()).prop_map(|at| serde_json::from_str(COUNTS[at]).unwrap()),
        "(active|/a|)".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 6, |inner| {
        let name =
            "(id|status|source|prLink|views|totals|hasMore|path|human|ai|total|jobs|nextCursor|x)";
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map(name, inner, 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_value_has_the_shape_exactly_when_the_cores_type_is_read_from_it(value in any_json(), name in "(views|totals|hasMore|jobs|nextCursor)") {
        let mut page = page();
        page["jobs"] = json!([{ "id": "j1" }]);
        page[name] = value.clone();
        for value in [value, page] {
            let read = serde_json::from_value::<AgentJob>(value.clone()).is_ok();
            prop_assert_eq!(is_job(&value), read, "a job: {}", value);
            let read = serde_json::from_value::<PageViews>(value.clone()).is_ok();
            prop_assert_eq!(is_page(&value), read, "a page: {}", value);
            let read = serde_json::from_value::<JobPage>(value.clone()).is_ok();
            prop_assert_eq!(is_of_kind(&value, &JobPage::KIND), read, "a list: {}", value);
        }
    }
}
