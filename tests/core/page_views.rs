use quillgate::response::decode;
use quillgate::{DecodeError, ListPageViews, PageViews};
use serde_json::{Value, json};

fn body() -> Value {
    json!({
        "totals": {"human": 30, "ai": 12, "total": 42},
        "views": [
            {"path": "/", "human": 20, "ai": 2, "total": 22},
            {"path": "/guides/start", "human": 10, "ai": 10, "total": 20},
        ],
        "hasMore": true,
    })
}

fn read(body: &Value) -> Result<PageViews, DecodeError> {
    read_text(&body.to_string())
}

fn read_text(body: &str) -> Result<PageViews, DecodeError> {
    decode::<ListPageViews>(body.as_bytes())
}

/// A body in which one count is the literal `number`.
fn with_count(number: &str) -> String {
    format!(r#"{{"totals":{{}},"views":[{{}},{{"ai":{number}}}],"hasMore":false}}"#)
}

#[test]
fn a_field_of_the_wrong_type_is_reported_by_its_path() {
    for (pointer, wrong, at) in [
        ("/totals", json!(7), "totals"),
        ("/totals/human", json!("30"), "totals.human"),
        ("/totals/ai", json!(true), "totals.ai"),
        ("/views", json!({}), "views"),
        ("/views/1", json!(null), "views[1]"),
        ("/views/0", json!(["/", 20, 2, 22]), "views[0]"),
        ("/views/1/path", json!(7), "views[1].path"),
        ("/views/1/human", json!("10"), "views[1].human"),
        ("/views/0/ai", json!({}), "views[0].ai"),
        ("/hasMore", json!("true"), "hasMore"),
    ] {
        let mut body = body();
        *body.pointer_mut(pointer).unwrap() = wrong.clone();
        let error = read(&body).expect_err(at);
        assert_eq!(error.at, at, "{wrong}");
        assert!(error.what.contains(", found "), "{at}: {}", error.what);
        let begins = format!("{at} must be ");
        assert!(error.to_string().starts_with(&begins), "{error}");
    }
}

#[test]
fn counts_decode_exactly_up_to_the_maximum_safe_integer() {
    for (number, count) in [
        ("0", 0),
        ("-0", 0),
        ("-0.0", 0),
        ("1", 1),
        ("1.0", 1),
        ("1e0", 1),
        ("1E+3", 1000),
        ("12.50e1", 125),
        ("9007199254740991", 9_007_199_254_740_991),
    ] {
        let page = read_text(&with_count(number)).expect(number);
        assert_eq!(page.views[1].ai.unwrap().get(), count, "{number}");
    }
}

#[test]
fn an_invalid_count_is_reported_by_its_path() {
    let numbers = "-1 1.5 1e-1 9007199254740992 9007199254740992.0 18446744073709551616 1e300";
    for number in numbers.split(' ') {
        let error = read_text(&with_count(number)).expect_err(number);
        assert_eq!(error.at, "views[1].ai", "{number}");
        let expected = "must be an integer from 0 to 9007199254740991, found a number";
        assert!(error.what.contains(expected), "{number}: {}", error.what);
    }
}

#[test]
fn only_white_space_may_follow_the_body() {
    let text = body().to_string();
    let found = read_text(&format!(" \r\n\t{text} \r\n\t")).unwrap();
    assert_eq!(found, read(&body()).unwrap());
    for rest in ["x", "{}", "\0", "<!-- cached -->"] {
        let error = read_text(&format!("{text}{rest}")).expect_err(rest);
        assert_eq!(error.at, "");
        assert!(error.what.starts_with("trailing characters"), "{error}");
    }
}

#[test]
fn invalid_utf8_is_rejected() {
    let error = decode::<ListPageViews>(
        b"{\"totals\":{},\"views\":[{\"path\":\"\xff\"}],\"hasMore\":true}",
    );
    assert_eq!(error.unwrap_err().at, "");
}
