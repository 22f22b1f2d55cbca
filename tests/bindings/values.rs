//! Values passed from JavaScript.

use js_sys::{Array, Function, Object, Reflect};
use quillgate::Rule;
use quillgate_wasm::protocol::{CommandNumber, EventNumber, Mode, Output, Source};
use wasm_bindgen::JsValue;
use wasm_bindgen_test::wasm_bindgen_test;

use crate::fake_driver::{FakeDriver, object};

/// The description of a number that is not an exact integer.
const INEXACT_NUMBER: &str = "a number that is no exact integer";

/// Passes a value as the prompt. Returns its description in the rejection, or `None` if the value
/// is accepted.
fn found(value: &JsValue) -> Option<String> {
    let params = object("prompt", value);
    let mut driver = FakeDriver::with_params("agentJobs.create", Mode::Once, &params);
    match driver.step(EventNumber::Begin, 0) {
        CommandNumber::Reject => driver.rejection().1.get(2).cloned(),
        _ => None,
    }
}

#[wasm_bindgen_test]
fn each_type_of_value_has_its_description() {
    let descriptions = [
        (JsValue::NULL, "null"),
        (JsValue::from_f64(5.0), "a number"),
        (JsValue::TRUE, "a boolean"),
        (JsValue::FALSE, "a boolean"),
        (Array::new().into(), "an array"),
        (Object::new().into(), "an object"),
        (Function::new_no_args("").into(), "a function"),
        (JsValue::from_str(""), "empty text"),
    ];
    for (value, expected) in descriptions {
        assert_eq!(found(&value).as_deref(), Some(expected));
    }
    assert_eq!(found(&JsValue::from_str("a prompt")), None);
}

#[wasm_bindgen_test]
fn numbers_are_exact_integers_within_their_bounds() {
    let rejection = |number: f64| {
        let params = object("limit", &number.into());
        let mut driver = FakeDriver::with_params("analytics.views", Mode::Once, &params);
        let command = driver.step(EventNumber::Begin, 0);
        (command == CommandNumber::Reject).then(|| driver.rejection().1.join(" "))
    };
    for number in [1.0, 250.0] {
        assert_eq!(rejection(number), None, "{number}");
    }
    for (number, found) in [
        (0.0, "0"),
        (251.0, "251"),
        (-3.0, "-3"),
        (1.5, INEXACT_NUMBER),
        (f64::NAN, INEXACT_NUMBER),
        (f64::INFINITY, INEXACT_NUMBER),
    ] {
        let expected = format!("limit 1 to 250 {found}");
        assert_eq!(rejection(number), Some(expected), "{number}");
    }
}

#[wasm_bindgen_test]
fn a_property_that_throws_counts_as_absent() {
    let params = js_sys::eval("({ get prompt() { throw new Error('no') } })").unwrap();
    let mut driver = FakeDriver::with_params("agentJobs.create", Mode::Once, &params);
    assert_eq!(driver.step(EventNumber::Begin, 0), CommandNumber::Reject);
    let (rule, lines) = driver.rejection();
    assert_eq!(
        (rule, lines[0].as_str()),
        (Rule::Required.number(), "prompt")
    );
}

#[wasm_bindgen_test]
fn an_unknown_name_is_rejected_before_any_value() {
    let params = object("prompt", &JsValue::from_f64(5.0));
    Reflect::set(&params, &"promt".into(), &"x".into()).unwrap();
    let mut driver = FakeDriver::with_params("agentJobs.create", Mode::Once, &params);
    assert_eq!(driver.step(EventNumber::Begin, 0), CommandNumber::Reject);
    let (rule, lines) = driver.rejection();
    assert_eq!((rule, lines[0].as_str()), (Rule::Unknown.number(), "promt"));
}

#[wasm_bindgen_test]
fn undefined_counts_as_absent() {
    let params = object("limit", &JsValue::UNDEFINED);
    Reflect::set(&params, &"nobody".into(), &JsValue::UNDEFINED).unwrap();
    let mut driver = FakeDriver::with_params("analytics.views", Mode::Once, &params);
    assert_eq!(driver.step(EventNumber::Begin, 0), CommandNumber::Yield);
}

#[wasm_bindgen_test]
fn parameters_never_override_the_options_of_the_client() {
    let params = r#"{ "id": "j1", "projectId": "other", "baseUrl": "https://evil.example" }"#;
    let mut driver = FakeDriver::new("agentJobs.get", Mode::Once, params);
    assert_eq!(driver.step(EventNumber::Begin, 0), CommandNumber::Reject);

    let mut driver = FakeDriver::new("agentJobs.get", Mode::Once, r#"{ "id": "j1" }"#);
    driver.set_source(
        Source::Options,
        r#"{ "projectId": "other", "baseUrl": "https://evil.example" }"#,
    );
    driver.step(EventNumber::Begin, 0);
    driver.step(EventNumber::Next, 0);
    let request = "GET /v2/agent/acme/job/j1\n".to_owned();
    assert_eq!(driver.emitted(Output::Request), [(60_000, request)]);
}
