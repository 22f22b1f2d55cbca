//! Tests that need a JavaScript host.
#![expect(
    clippy::unwrap_used,
    reason = "a failed unwrap fails the test at its line"
)]

use std::cell::Cell;
use std::rc::Rc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use js_sys::{Array, Function, JsString, Object, Promise, Reflect, Uint8Array};
use quillgate::Millis;
use serde_json::{Value, json};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use wasm_bindgen_test::wasm_bindgen_test;
use web_sys::{AbortController, AbortSignal, Headers, ReadableStream, WebSocket};
use worker::State;
use worker::worker_sys::DurableObjectState;

use crate::auth::jwks::{Algorithm, PublicKey};
use crate::auth::signature::verify_signature;
use crate::http::response::HeaderFields;
use crate::runtime::d1::D1;
use crate::runtime::host::{read_fields, read_stream};
use crate::runtime::{Database, SharedTask, SocketMessages, digest_tag, into_promise};

#[wasm_bindgen(module = "/entry/host.js")]
extern "C" {
    #[wasm_bindgen(js_name = formatFields)]
    fn format_fields(headers: &Headers) -> String;
}

fn js(text: &str) -> JsString {
    text.into()
}

#[wasm_bindgen_test]
async fn a_tag_is_the_beginning_of_sha_256_in_base64url() {
    // The example message of FIPS 180-4, and the empty message.
    let tag = digest_tag(&js("abc")).await.unwrap();
    assert_eq!(tag, "ungWv48Bz-pBQUDeXa4iI7");
    let tag = digest_tag(&js("")).await.unwrap();
    assert_eq!(tag, "47DEQpj8HBSa-_TImW-5JC");
    // The hash covers the UTF-8 bytes.
    let tag = digest_tag(&js("é€😀")).await.unwrap();
    assert_eq!(tag, "35Imkn_VcsHuZu7IXeG7E5");
}

/// The examples of RFC 7515, appendices A.2 and A.3.
#[wasm_bindgen_test]
async fn the_signatures_of_rfc_7515_are_verified() {
    let claims = "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
    let rsa = PublicKey::Rsa {
        n: "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ".to_owned(),
        e: "AQAB".to_owned(),
    };
    let rsa_signature = "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw";
    let ec = PublicKey::Ec {
        crv: "P-256",
        x: "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU".to_owned(),
        y: "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0".to_owned(),
    };
    let ec_signature =
        "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";
    for (algorithm, header, key, signature) in [
        (Algorithm::Rs256, "eyJhbGciOiJSUzI1NiJ9", rsa, rsa_signature),
        (Algorithm::Es256, "eyJhbGciOiJFUzI1NiJ9", ec, ec_signature),
    ] {
        let signed = format!("{header}.{claims}");
        let signature = URL_SAFE_NO_PAD.decode(signature).unwrap();
        let is_valid = verify_signature(algorithm, &signed, &signature, &key).await;
        assert!(is_valid.unwrap());
    }
}

#[wasm_bindgen_test]
fn header_fields_are_read_with_lowercase_names_and_all_characters() {
    let headers = Headers::new().unwrap();
    let read = |headers| read_fields(format_fields(headers).split('\n'));
    assert_eq!(read(&headers), HeaderFields::default());
    for (name, value) in [("X-B", "\"é\": {1, 2}"), ("x-a", ""), ("X-C", "1")] {
        headers.append(name, value).unwrap();
    }
    headers.append("x-c", "2").unwrap();
    let fields = read(&headers);
    let expected = [("x-a", ""), ("x-b", "\"é\": {1, 2}"), ("x-c", "1, 2")];
    assert_eq!(fields.iter().collect::<Vec<_>>(), expected);
}

/// Runs JavaScript with one argument and returns its result.
pub(crate) fn run_js<T: JsCast>(argument: &JsValue, script: &str) -> T {
    let function = Function::new_with_args("argument", script);
    function
        .call1(&JsValue::UNDEFINED, argument)
        .unwrap()
        .unchecked_into()
}

pub(crate) fn property(object: &JsValue, name: &str) -> JsValue {
    Reflect::get(object, &name.into()).unwrap()
}

/// Cancelling the stream sets its property `cancelled`.
pub(crate) fn stream_of(chunks: &[&[u8]]) -> ReadableStream {
    let chunks: Array = chunks
        .iter()
        .map(|chunk| Uint8Array::from(*chunk))
        .collect();
    let script = "
        const stream = new ReadableStream({
          pull(controller) {
            const chunk = argument.shift();
            if (chunk) controller.enqueue(chunk);
            else controller.close();
          },
          cancel() { stream.cancelled = true; },
        }, { highWaterMark: 0 });
        return stream;";
    run_js(&chunks, script)
}

#[wasm_bindgen_test]
async fn a_body_is_read_up_to_its_maximum_size() {
    let body = stream_of(&[b"aaa", b"bb"]);
    let read = read_stream(Some(body.clone()), 5).await.unwrap();
    assert_eq!(read.as_deref(), Some(&b"aaabb"[..]));
    assert!(property(&body, "cancelled").is_undefined());
    let read = read_stream(None, 5).await.unwrap();
    assert_eq!(read.as_deref(), Some(&b""[..]));
}

#[wasm_bindgen_test]
async fn a_body_over_its_maximum_size_is_cancelled() {
    let body = stream_of(&[b"aaa", b"bbb", b"ccc"]);
    assert_eq!(read_stream(Some(body.clone()), 5).await.unwrap(), None);
    assert!(property(&body, "cancelled").is_truthy());
}

#[wasm_bindgen_test]
async fn a_body_that_breaks_off_is_an_error() {
    let script = "return new ReadableStream({ pull: (it) => it.error(new Error(argument)) });";
    let body = run_js(&"gone".into(), script);
    let error = read_stream(Some(body), 5).await.unwrap_err();
    assert!(error.to_string().contains("gone"), "{error}");
}

/// `send` simulates a received message, and `closed` counts calls of `close`.
pub(crate) fn fake_socket() -> WebSocket {
    let script = "
        const socket = new EventTarget();
        socket.closed = 0;
        socket.accept = () => {};
        socket.close = () => { socket.closed += 1; };
        socket.send = (data) => {
          const event = new Event('message');
          event.data = data;
          socket.dispatchEvent(event);
        };
        return socket;";
    run_js(&JsValue::NULL, script)
}

pub(crate) fn listen(socket: &WebSocket, signal: &AbortSignal, time: Millis) -> SocketMessages {
    let accept = |message: &str| message != "last";
    SocketMessages::listen(socket, signal, time, accept).unwrap()
}

const MINUTE: Millis = Millis::from_seconds(60);

#[wasm_bindgen_test]
async fn messages_end_at_a_rejected_one() {
    let socket = fake_socket();
    let controller = AbortController::new().unwrap();
    let messages = listen(&socket, &controller.signal(), MINUTE);
    for message in ["a", "b", "last", "c"] {
        socket.send_with_str(message).unwrap();
    }
    assert_eq!(messages.next().await.as_deref(), Some("a"));
    assert_eq!(messages.next().await.as_deref(), Some("b"));
    assert_eq!(messages.next().await, None);
    drop(messages);
    assert_eq!(property(&socket, "closed"), 1);
}

#[wasm_bindgen_test]
async fn messages_end_with_the_socket_the_client_and_the_time() {
    let socket = fake_socket();
    let controller = AbortController::new().unwrap();
    let messages = listen(&socket, &controller.signal(), MINUTE);
    run_js::<JsValue>(&socket, "argument.dispatchEvent(new Event('close'));");
    assert_eq!(messages.next().await, None);

    let messages = listen(&socket, &controller.signal(), Millis(10));
    assert_eq!(messages.next().await, None);

    let messages = listen(&socket, &controller.signal(), MINUTE);
    controller.abort();
    assert_eq!(messages.next().await, None);
    assert_eq!(property(&socket, "closed"), 3);
}

#[wasm_bindgen_test]
async fn messages_end_after_a_timer_unless_it_is_dropped() {
    let socket = fake_socket();
    let controller = AbortController::new().unwrap();
    let messages = listen(&socket, &controller.signal(), MINUTE);
    drop(messages.end_after(Millis(1)));
    let timer = messages.end_after(Millis(20));
    socket.send_with_str("a").unwrap();
    assert_eq!(messages.next().await.as_deref(), Some("a"));
    assert_eq!(property(&socket, "closed"), 0);
    assert_eq!(messages.next().await, None);
    assert_eq!(property(&socket, "closed"), 1);
    drop(timer);
}

/// Records the promises passed to `waitUntil`.
fn state(waited: &Array) -> State {
    let recorded = waited.clone();
    let wait_until = Closure::<dyn FnMut(JsValue)>::new(move |promise: JsValue| {
        recorded.push(&promise);
    });
    let object = Object::new();
    let function = wait_until.into_js_value();
    Reflect::set(&object, &"waitUntil".into(), &function).unwrap();
    State::from(object.unchecked_into::<DurableObjectState>())
}

fn pending() -> (Promise, Function) {
    let mut settle = None;
    let promise = Promise::new(&mut |resolve, _| settle = Some(resolve));
    (promise, settle.unwrap())
}

#[wasm_bindgen_test]
async fn all_waiters_receive_the_result_of_a_shared_task() {
    let waited = Array::new();
    let runs = Rc::new(Cell::new(0_u32));
    let (gate, open) = pending();
    let counted = Rc::clone(&runs);
    let task = SharedTask::spawn(&state(&waited), async move {
        JsFuture::from(gate).await.unwrap();
        counted.set(counted.get() + 1);
        counted.get()
    })
    .unwrap();
    let waiters = Array::new();
    for _ in 0..3 {
        let task = task.clone();
        waiters.push(&into_promise(async move { Ok(task.wait().await?.into()) }));
    }
    open.call0(&JsValue::UNDEFINED).unwrap();
    let results: Array = JsFuture::from(Promise::all(&waiters))
        .await
        .unwrap()
        .unchecked_into();
    assert_eq!(results.join(","), "1,1,1");
    // A later waiter receives the result as well.
    assert_eq!(task.wait().await.unwrap(), 1);
    assert_eq!(runs.get(), 1);
    assert_eq!(waited.length(), 1);
}

#[wasm_bindgen_test]
async fn a_shared_task_continues_after_all_waiters_have_left() {
    let waited = Array::new();
    let is_done = Rc::new(Cell::new(false));
    let (gate, open) = pending();
    let done = Rc::clone(&is_done);
    let task = SharedTask::spawn(&state(&waited), async move {
        JsFuture::from(gate).await.unwrap();
        done.set(true);
    });
    drop(task.unwrap());
    assert!(!is_done.get());
    open.call0(&JsValue::UNDEFINED).unwrap();
    let running: Promise = waited.get(0).unchecked_into();
    JsFuture::from(running).await.unwrap();
    assert!(is_done.get());
}

/// `exec`, a JavaScript function, can use `argument`.
pub(crate) fn fake_database(argument: &JsValue, exec: &str) -> Rc<Database> {
    let script = format!(
        "const storage = {{ sql: {{ exec: {exec} }}, transactionSync: (run) => run() }};
        return {{ storage }};"
    );
    let state: DurableObjectState = run_js(argument, &script);
    Rc::new(Database::new(State::from(state).storage()))
}

#[wasm_bindgen_test]
fn statements_and_rows_keep_all_characters_integers_and_nulls() {
    let exec = "(_, text, number, missing) => ({ toArray: () => [{ text, number, missing }] })";
    let database = fake_database(&JsValue::NULL, exec);
    let (text, number) = ("a\0é😀\"\u{2028}", (1_u64 << 53) - 1);
    let row: Option<Value> = database
        .first("SELECT", &[&text, &number, &None::<String>])
        .unwrap();
    let expected = json!({ "text": text, "number": number, "missing": null });
    assert_eq!(row, Some(expected));
}

#[wasm_bindgen_test]
fn a_statement_without_values_or_rows_returns_none() {
    let exec = "(_, ...values) => ({ toArray: () => values })";
    let database = fake_database(&JsValue::NULL, exec);
    database.execute("DELETE", &[]).unwrap();
    assert_eq!(database.value::<u64>("SELECT", &[]).unwrap(), None);
}

#[wasm_bindgen_test]
fn a_javascript_string_is_bound_after_the_values() {
    let exec = "(_, ...values) => {
      argument.push(...values);
      return { toArray: () => [] };
    }";
    let values = Array::new();
    let database = fake_database(&values, exec);
    database
        .execute_with_text("INSERT", &[&1], &js("😀"))
        .unwrap();
    assert_eq!(values.join(","), "1,😀");
}

#[wasm_bindgen_test]
async fn a_call_without_a_response_from_d1_times_out() {
    let binding = Function::new_no_args(
        "const never = () => new Promise(() => {});
         const statement = { bind: () => statement, all: never };
         return { prepare: () => statement, batch: never };",
    );
    let binding = binding.call0(&JsValue::UNDEFINED).unwrap();
    let database = D1::new(binding, Millis(10));
    let refused = database
        .rows::<u32>("SELECT 1", &json!([]))
        .await
        .unwrap_err();
    assert_eq!(refused.to_string(), "D1 did not answer in time");
    let statements = [("SELECT 1", json!([]))];
    let refused = database.batch(&statements).await.unwrap_err();
    assert_eq!(refused.to_string(), "D1 did not answer in time");
}
