//! A simulator to test, and a client that speaks to it.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::runtime::Runtime;
use upstream::{Options, Running, Simulator};
use ureq::http::{HeaderMap, Request};

pub const KEY: &str = "mint_a_key_for_tests";
pub const JOB: &str = "/v2/agent/demo-docs/job";
pub const REPORTS: &str = "/v1/analytics/demo-docs";
pub const VIEWS: &str = "/v1/analytics/demo-docs/views";

/// Long enough for any of the awaited conditions on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

pub struct Client {
    agent: ureq::Agent,
    running: Running,
    _runtime: Runtime,
}

#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub text: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap()
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }
}

/// Options for tests: a free port, few pages, jobs that take no time at all.
pub fn quick() -> Options {
    Options {
        port: 0,
        pages: 40,
        job_duration_ms: 0,
        key: KEY.into(),
        ..Options::default()
    }
}

impl Client {
    pub fn start(options: Options) -> Self {
        let runtime = Runtime::new().unwrap();
        let running = runtime.block_on(Simulator::start(options)).unwrap();
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_global(Some(PATIENCE));
        Self {
            agent: config.build().into(),
            running,
            _runtime: runtime,
        }
    }

    pub fn address(&self) -> String {
        self.running.addr.to_string()
    }

    /// Any request; the headers are pairs of name and value.
    pub fn send(
        &self,
        method: &str,
        target: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Result<Answer, ureq::Error> {
        let url = format!("{}{target}", self.running.base_url());
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
        Ok(Answer {
            status: parts.status.as_u16(),
            headers: parts.headers,
            text: body.read_to_string()?,
        })
    }

    /// An API request with the accepted key, which may end badly.
    pub fn try_get(&self, target: &str) -> Result<Answer, ureq::Error> {
        self.send(
            "GET",
            target,
            &[("authorization", &format!("Bearer {KEY}"))],
            "",
        )
    }

    pub fn get(&self, target: &str) -> Answer {
        self.try_get(target).unwrap()
    }

    pub fn post(&self, target: &str, body: &str) -> Answer {
        let bearer = format!("Bearer {KEY}");
        let headers = [
            ("authorization", bearer.as_str()),
            ("content-type", "application/json"),
        ];
        self.send("POST", target, &headers, body).unwrap()
    }

    /// A report of the demo project, by the end of its path.
    pub fn report(&self, report: &str, query: &str) -> Value {
        let answer = self.get(&format!("{REPORTS}/{report}?{query}"));
        assert_eq!(answer.status, 200, "{report}?{query}: {}", answer.text);
        answer.json()
    }

    /// All pages of a cursor list, from the first to the one that gives no cursor.
    pub fn cursor_pages(&self, report: &str, query: &str) -> Vec<Value> {
        let mut pages = vec![self.report(report, query)];
        while let Some(cursor) = pages[pages.len() - 1]["nextCursor"].as_str() {
            let cursor = encode(cursor);
            pages.push(self.report(report, &format!("{query}&cursor={cursor}")));
        }
        pages
    }

    /// The whole report, from the control route.
    pub fn whole_report(&self, report: &str, query: &str) -> Value {
        self.read_control(&format!("/analytics?report={report}&{query}"))
    }

    /// Creates a job and returns it.
    pub fn create(&self, prompt: &str) -> Value {
        let answer = self.post(JOB, &json!({ "prompt": prompt }).to_string());
        assert_eq!(answer.status, 201, "{}", answer.text);
        answer.json()
    }

    pub fn job(&self, id: &Value) -> Value {
        self.get(&format!("{JOB}/{}", id.as_str().unwrap())).json()
    }

    pub fn control(&self, method: &str, target: &str, body: &Value) -> Answer {
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        self.send(method, &format!("/__control{target}"), &[], &body)
            .unwrap()
    }

    pub fn read_control(&self, target: &str) -> Value {
        let answer = self.control("GET", target, &Value::Null);
        assert_eq!(answer.status, 200, "{}", answer.text);
        answer.json()
    }

    /// Queues a fault of which the next request is the victim.
    pub fn fault(&self, fault: &Value) {
        let answer = self.control("POST", "/faults", &json!({ "fault": fault }));
        assert_eq!(answer.status, 201, "{}", answer.text);
    }

    pub fn counter(&self, name: &str) -> u64 {
        self.read_control("/counters")[name].as_u64().unwrap()
    }
}

/// A cursor as it has to be written in a query.
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

/// Asks until the condition holds.
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "never: {what}");
        std::thread::yield_now();
    }
}
