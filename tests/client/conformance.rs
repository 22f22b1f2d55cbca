//! The responses in `tests/conformance`, read by the native host.

use quillgate::Error;
use serde_json::{Value, json};

use crate::connection_failures::{Server, builder};

fn to_bytes(case: &Value) -> Vec<u8> {
    let lines = case["head"].as_array().unwrap().iter();
    let mut head = String::new();
    for line in lines {
        head.push_str(line.as_str().unwrap());
        head.push_str("\r\n");
    }
    head.push_str("\r\n");
    // Header fields are Latin-1.
    let mut bytes: Vec<u8> = head.chars().map(|c| u8::try_from(c).unwrap()).collect();
    match case["base64"].as_str() {
        Some(body) => bytes.extend(decode_base64(body)),
        None => bytes.extend(case["text"].as_str().unwrap().bytes()),
    }
    bytes
}

pub fn decode_base64(text: &str) -> Vec<u8> {
    const DIGITS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bits = 0_u32;
    let mut bytes = Vec::new();
    for (at, digit) in text.trim_end_matches('=').chars().enumerate() {
        bits = bits << 6 | u32::try_from(DIGITS.find(digit).unwrap()).unwrap();
        // After 2, 3 and 4 digits, another byte is complete.
        if at % 4 > 0 {
            bytes.push((bits >> (6 - 2 * (at % 4))).to_le_bytes()[0]);
        }
    }
    bytes
}

#[tokio::test]
async fn each_response_is_read_as_fetch_reads_it() {
    let cases: Vec<Value> =
        serde_json::from_str(include_str!("../conformance/responses.json")).unwrap();
    let mut failures = Vec::new();
    for case in cases {
        let server = Server::new(to_bytes(&case));
        let client = builder(format!("http://{}", server.authority));
        let client = client.max_retries(0).build().unwrap();
        let found = match client.agent_jobs().get("j1").send().await {
            Ok(job) => json!({ "model": job.model }),
            Err(Error::Connection(_)) => json!({ "error": "connection" }),
            Err(Error::Decode { .. }) => json!({ "error": "decode" }),
            Err(Error::Api(error)) => {
                // Advice follows the summary.
                let message = error.message.split("; ").next();
                json!({ "error": "api", "status": error.status, "message": message })
            }
            Err(error) => panic!("{}: {error:?}", case["name"]),
        };
        assert_eq!(server.count(), 1, "{}", case["name"]);
        let expected = &case["expected"];
        let is_either = expected["error"] == "connection or decode"
            && matches!(found["error"].as_str(), Some("connection" | "decode"));
        if !(is_either || *expected == found) {
            failures.push(format!("{}: {found}", case["name"]));
        }
    }
    assert_eq!(failures, Vec::<String>::new());
}
