//! Values as they cross.

use js_sys::{Array, Function, Object, Reflect};
use quillgate::Rule;
use quillgate::protocol::{CommandNumber, EventNumber, Mode, Source, Text};
use wasm_bindgen::JsValue;
use wasm_bindgen_test::wasm_bindgen_test;

use crate::fake_driver::{FakeDriver, object};

/// What is found in place of a text.
fn found(value: &JsValue) -> Option<String> {
    let params = object("prompt", value);
    let mut driver = FakeDriver::with_params("agentJobs.create", Mode::Once, &params);
    match driver.step(EventNumber::Begin, 0) {
        CommandNumber::Refuse => driver.refusal().1.get(2).cloned(),
        _ => None,
    }
}

#[wasm_bindgen_test]
fn each_type_of_value_has_its_words() {
    let words = [
        (JsValue::NULL, "null"),
        (JsValue::from_f64(5.0), "a number"),
        (JsValue::TRUE, "a boolean"),
        (JsValue::FALSE, "a boolean"),
        (Array::new().into(), "an array"),
        (Object::new().into(), "an object"),
        (Function::new_no_args("").into(), "a function"),
        (JsValue::from_str(""), "empty text"),
    ];
    for (value, expected) in words {
        assert_eq!(found(&value).as_deref(), Some(expected));
    }
    assert_eq!(found(&JsValue::from_str("a prompt")), None);
}

#[wasm_bindgen_test]
fn numbers_are_exact_integers_within_their_bounds() {
    let refuse = |number: f64| {
        let params = object("limit", &number.into());
        let mut driver = FakeDriver::with_params("analytics.views", Mode::Once, &params);
        let command = driver.step(EventNumber::Begin, 0);
        (command == CommandNumber::Refuse).then(|| driver.refusal().1.join(" "))
    };
    for number in [1.0, 250.0] {
        assert_eq!(refuse(number), None, "{number}");
    }
    for (number, found) in [
        (0.0, "0"),
        (251.0, "251"),
        (-3.0, "-3"),
        (1.5, "a number that is no exact integer"),
        (f64::NAN, "a number that is no exact integer"),
        (f64::INFINITY, "a number that is no exact integer"),
    ] {
        let expected = format!("limit 1 to 250 {found}");
        assert_eq!(refuse(number), Some(expected), "{number}");
    }
}

#[wasm_bindgen_test]
fn a_member_that_cannot_be_read_is_not_there() {
    let params = js_sys::eval("({ get prompt() { throw new Error('no') } })").unwrap();
    let mut driver = FakeDriver::with_params("agentJobs.create", Mode::Once, &params);
    assert_eq!(driver.step(EventNumber::Begin, 0), CommandNumber::Refuse);
    let (rule, lines) = driver.refusal();
    assert_eq!(
        (rule, lines[0].as_str()),
        (Rule::Required.number(), "prompt")
    );
}

#[wasm_bindgen_test]
fn a_name_that_there_is_not_is_refused_before_any_value() {
    let params = object("prompt", &JsValue::from_f64(5.0));
    Reflect::set(&params, &"promt".into(), &"x".into()).unwrap();
    let mut driver = FakeDriver::with_params("agentJobs.create", Mode::Once, &params);
    assert_eq!(driver.step(EventNumber::Begin, 0), CommandNumber::Refuse);
    let (rule, lines) = driver.refusal();
    assert_eq!((rule, lines[0].as_str()), (Rule::Unknown.number(), "promt"));
}

#[wasm_bindgen_test]
fn what_is_undefined_counts_as_left_out() {
    let params = object("limit", &JsValue::UNDEFINED);
    Reflect::set(&params, &"nobody".into(), &JsValue::UNDEFINED).unwrap();
    let mut driver = FakeDriver::with_params("analytics.views", Mode::Once, &params);
    assert_eq!(driver.step(EventNumber::Begin, 0), CommandNumber::Deliver);
}

#[wasm_bindgen_test]
fn parameters_are_never_taken_for_options_of_the_client() {
    let params = r#"{ "id": "j1", "projectId": "other", "baseUrl": "https://evil.example" }"#;
    let mut driver = FakeDriver::new("agentJobs.get", Mode::Once, params);
    assert_eq!(driver.step(EventNumber::Begin, 0), CommandNumber::Refuse);

    let mut driver = FakeDriver::new("agentJobs.get", Mode::Once, r#"{ "id": "j1" }"#);
    driver.give(
        Source::Options,
        r#"{ "projectId": "other", "baseUrl": "https://evil.example" }"#,
    );
    driver.step(EventNumber::Begin, 0);
    driver.step(EventNumber::Next, 0);
    let request = "GET /v2/agent/acme/job/j1\n".to_owned();
    assert_eq!(driver.said(Text::Request), [(60_000, request)]);
}
