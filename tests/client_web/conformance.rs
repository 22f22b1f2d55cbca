//! The responses in `tests/conformance`, read by the fetch host in Node.js.

use js_sys::{JsString, Promise};
use quillgate::{Client, Error};
use serde_json::{Value, json};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use wasm_bindgen_test::wasm_bindgen_test;

#[wasm_bindgen(module = "/tests/conformance/server.js")]
extern "C" {
    #[wasm_bindgen(js_name = serveResponse)]
    fn serve_response(json: &str) -> Promise;

    #[wasm_bindgen(js_name = isExpected)]
    fn is_expected(json: &str, found: &str) -> bool;

    #[wasm_bindgen(js_name = canServe)]
    fn can_serve() -> bool;
}

#[wasm_bindgen_test]
async fn each_response_is_read_alike() {
    if !can_serve() {
        return;
    }
    let cases: Vec<Value> =
        serde_json::from_str(include_str!("../conformance/responses.json")).unwrap();
    for case in cases {
        let case = case.to_string();
        let url = JsFuture::from(serve_response(&case)).await.unwrap();
        let url = String::from(JsString::from(url));
        let builder = Client::builder().gateway(url, "t").project("acme");
        let client = builder.max_retries(0).build().unwrap();
        let found = match client.agent_jobs().get("j1").send().await {
            Ok(job) => json!({ "model": job.model }),
            Err(Error::Connection(_)) => json!({ "error": "connection" }),
            Err(Error::Decode { .. }) => json!({ "error": "decode" }),
            Err(Error::Api(error)) => {
                // Advice follows the summary.
                let message = error.message.split("; ").next();
                json!({ "error": "api", "status": error.status, "message": message })
            }
            Err(error) => panic!("{case}: {error:?}"),
        };
        let found = found.to_string();
        assert!(is_expected(&case, &found), "{case}: {found}");
    }
}
