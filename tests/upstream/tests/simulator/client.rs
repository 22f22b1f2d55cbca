//! A simulator with an HTTP client.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::runtime::Runtime;
use upstream::{Options, Profile, Running, Simulator};
use ureq::http::{HeaderMap, Request};

pub const KEY: &str = "mint_a_key_for_tests";
pub const JOB: &str = "/v2/agent/demo-docs/job";
pub const REPORTS: &str = "/v1/analytics/demo-docs";
pub const UPDATE: &str = "/v1/project/update/demo-docs";
pub const PREVIEW: &str = "/v1/project/preview/demo-docs";
pub const STATUS: &str = "/v1/project/update-status";
pub const AUTOMATIONS: &str = "/v1/workflow/demo-docs";
pub const VIEWS: &str = "/v1/analytics/demo-docs/views";

/// Long enough for every awaited condition on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(20);

pub struct Client {
    agent: ureq::Agent,
    simulator: Running,
    _runtime: Runtime,
}

#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub headers: HeaderMap,
    pub text: String,
}

impl Response {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap()
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }
}

/// Options for tests: a free port, few pages, and jobs that complete immediately.
pub fn fast_options() -> Options {
    Options {
        port: 0,
        profile: Profile::Published,
        pages: 40,
        job_duration_ms: 0,
        key: KEY.into(),
        ..Options::default()
    }
}

impl Client {
    pub fn start(options: Options) -> Self {
        let runtime = Runtime::new().unwrap();
        let simulator = runtime.block_on(Simulator::start(options)).unwrap();
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_global(Some(TIMEOUT));
        Self {
            agent: config.build().into(),
            simulator,
            _runtime: runtime,
        }
    }

    pub fn address(&self) -> String {
        self.simulator.addr.to_string()
    }

    /// Sends a request. The headers are pairs of name and value.
    pub fn send(
        &self,
        method: &str,
        target: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Result<Response, ureq::Error> {
        let url = format!("{}{target}", self.simulator.base_url());
        let request = Request::builder().method(method).uri(url);
        let request = headers.iter().fold(request, |request, (name, value)| {
            request.header(*name, *value)
        });
        let config = self
            .agent
            .configure_request(request.body(body.to_owned()).unwrap());
        let response = self
            .agent
            .run(config.allow_non_standard_methods(true).build())?;
        let (parts, mut body) = response.into_parts();
        Ok(Response {
            status: parts.status.as_u16(),
            headers: parts.headers,
            text: body.read_to_string()?,
        })
    }

    /// Sends a GET request with the accepted key.
    pub fn try_get(&self, target: &str) -> Result<Response, ureq::Error> {
        self.send(
            "GET",
            target,
            &[("authorization", &format!("Bearer {KEY}"))],
            "",
        )
    }

    pub fn get(&self, target: &str) -> Response {
        self.try_get(target).unwrap()
    }

    pub fn post(&self, target: &str, body: &str) -> Response {
        let bearer = format!("Bearer {KEY}");
        let headers = [
            ("authorization", bearer.as_str()),
            ("content-type", "application/json"),
        ];
        self.send("POST", target, &headers, body).unwrap()
    }

    /// Requests a report of the demo project by the end of its path.
    pub fn report(&self, report: &str, query: &str) -> Value {
        let response = self.get(&format!("{REPORTS}/{report}?{query}"));
        assert_eq!(response.status, 200, "{report}?{query}: {}", response.text);
        response.json()
    }

    /// Requests all pages of a list with cursors.
    pub fn cursor_pages(&self, report: &str, query: &str) -> Vec<Value> {
        let mut pages = vec![self.report(report, query)];
        while let Some(cursor) = pages[pages.len() - 1]["nextCursor"].as_str() {
            let cursor = encode(cursor);
            pages.push(self.report(report, &format!("{query}&cursor={cursor}")));
        }
        pages
    }

    /// Requests a report with all rows from the control API.
    pub fn full_report(&self, report: &str, query: &str) -> Value {
        self.read_control(&format!("/analytics?report={report}&{query}"))
    }

    /// Creates a job and returns it.
    pub fn create(&self, prompt: &str) -> Value {
        let response = self.post(JOB, &json!({ "prompt": prompt }).to_string());
        assert_eq!(response.status, 201, "{}", response.text);
        response.json()
    }

    pub fn job(&self, id: &Value) -> Value {
        self.get(&format!("{JOB}/{}", id.as_str().unwrap())).json()
    }

    /// Starts a deployment of the demo project and returns its id.
    pub fn deploy(&self) -> String {
        let response = self.post(UPDATE, "");
        assert_eq!(response.status, 202, "{}", response.text);
        text_of(&response.json()["statusId"])
    }

    /// Starts a preview of the demo project and returns its id and URL.
    pub fn preview(&self, branch: &str) -> (String, String) {
        let response = self.post(PREVIEW, &json!({ "branch": branch }).to_string());
        assert_eq!(response.status, 202, "{}", response.text);
        let started = response.json();
        (
            text_of(&started["statusId"]),
            text_of(&started["previewUrl"]),
        )
    }

    pub fn deployment(&self, id: &str) -> Value {
        let response = self.get(&format!("{STATUS}/{id}"));
        assert_eq!(response.status, 200, "{}", response.text);
        response.json()
    }

    pub fn control(&self, method: &str, target: &str, body: &Value) -> Response {
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        self.send(method, &format!("/__control{target}"), &[], &body)
            .unwrap()
    }

    pub fn read_control(&self, target: &str) -> Value {
        let response = self.control("GET", target, &Value::Null);
        assert_eq!(response.status, 200, "{}", response.text);
        response.json()
    }

    /// Queues a fault for the next request.
    pub fn fault(&self, fault: &Value) {
        let response = self.control("POST", "/faults", &json!({ "fault": fault }));
        assert_eq!(response.status, 201, "{}", response.text);
    }

    /// Advances the clock and returns its new time.
    pub fn advance_clock(&self, ms: u64) -> Value {
        let response = self.control("POST", "/clock", &json!({ "forwardMs": ms }));
        assert_eq!(response.status, 200, "{}", response.text);
        response.json()
    }

    pub fn counter(&self, name: &str) -> u64 {
        self.read_control("/counters")[name].as_u64().unwrap()
    }
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// Encodes a cursor for a query.
pub fn encode(cursor: &str) -> String {
    cursor
        .replace('+', "%2B")
        .replace('/', "%2F")
        .replace('=', "%3D")
}

/// The rows of all pages, one after another.
pub fn rows_of(pages: &[Value], name: &str) -> Vec<Value> {
    let rows = pages.iter().flat_map(|page| page[name].as_array().unwrap());
    rows.cloned().collect()
}

/// Polls until the condition is true.
pub fn wait_until(condition: &str, mut is_true: impl FnMut() -> bool) {
    let deadline = Instant::now() + TIMEOUT;
    while !is_true() {
        assert!(Instant::now() < deadline, "never: {condition}");
        std::thread::sleep(Duration::from_millis(2));
    }
}
