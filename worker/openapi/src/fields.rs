//! Describes the header fields of requests and responses.

use quillgate_worker::jobs::webhook::MAX_URL_LENGTH;
use serde_json::{Map, Value, json};

use super::{patterns, reference};

/// A header field. `example` is one example, or an array of several.
struct Field {
    name: &'static str,
    doc: &'static str,
    schema: Value,
    example: Value,
}

fn field(name: &'static str, doc: &'static str, schema: Value, example: impl Into<Value>) -> Field {
    let example = example.into();
    Field {
        name,
        doc,
        schema,
        example,
    }
}

/// The header fields of requests that must not be repeated without a key.
pub const KEYED: [&str; 2] = ["Idempotency-Key", "Idempotency-Retry"];

/// The header fields that every request may have.
pub const ALL_REQUESTS: [&str; 3] = ["X-Request-Id", "traceparent", "tracestate"];

/// Returns the schema of a string without restrictions.
fn any_string() -> Value {
    json!({ "type": "string" })
}

fn matching(pattern: &str) -> Value {
    json!({ "type": "string", "pattern": pattern })
}

fn request_fields() -> Vec<Field> {
    vec![
        field(
            "X-Request-Id",
            "The id of the request, for the response and the gateway's log: 1 to 255 letters, \
                digits, `_`, `-` and `=`. Other values are replaced by a new id.",
            any_string(),
            "build-42",
        ),
        field(
            "traceparent",
            "The request's trace (W3C Trace Context). The gateway continues it in its requests \
                to Mintlify. Invalid values are ignored.",
            any_string(),
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        ),
        field(
            "tracestate",
            "Data of tracing systems for `traceparent`. The gateway forwards at most 512 \
                characters, in whole list members. Invalid values are ignored.",
            any_string(),
            "vendor=00f067aa0ba902b7",
        ),
        field(
            "Idempotency-Key",
            "A key that you choose: 1 to 255 visible ASCII characters, with or without quotes. \
                For a day, the gateway sends a request with the same key once and replays the \
                stored response. Another request with this key receives 422. Keys are separate \
                for each caller and project.",
            matching(patterns::IDEMPOTENCY_KEY),
            "\"8e03978e-40d5-43e8-bc93-6894a57f9324\"",
        ),
        field(
            "Idempotency-Retry",
            "`force` sends a request again if its outcome is unknown or was a 5xx. Without it, \
                the gateway never sends such a request twice.",
            matching(patterns::FORCE),
            "force",
        ),
        field(
            "Webhook-Url",
            "The URL that receives the job's end, see `webhooks`: https, with a host name or a \
                public address in its usual notation, which the pattern excludes. The operator \
                lists the allowed hosts (`WEBHOOK_HOSTS`). A gateway without them or without \
                `WEBHOOK_SECRET` rejects this header field.",
            json!({ "type": "string", "maxLength": MAX_URL_LENGTH, "pattern": patterns::WEBHOOK_URL }),
            "https://hooks.example/quillgate",
        ),
        field(
            "Prefer",
            "`wait=n`: respond when the job or the deployment has changed or ended, or when the \
                budget has a free slot, or after this many seconds, at most 25 (RFC 7240). Other \
                values are ignored.",
            any_string(),
            "wait=25",
        ),
        field(
            "If-None-Match",
            "The entity tags that you have. For reports: 304 if they include the current one, or \
                for `*`. For a job, with `Prefer: wait`: the state that you know.",
            any_string(),
            json!(["\"3\"", "*"]),
        ),
        field(
            "Cache-Control",
            "`no-cache`: fetch from Mintlify again, within the budget. Other values are ignored.",
            any_string(),
            "no-cache",
        ),
        field(
            "Last-Event-ID",
            "The id of the last event that you received. The stream resumes after it. Values \
                that are not numbers are ignored.",
            any_string(),
            "2",
        ),
    ]
}

fn response_fields() -> Vec<Field> {
    let mut fields = vec![
        field(
            "X-Request-Id",
            "The id of the request.",
            matching(patterns::REQUEST_ID),
            "build-42",
        ),
        field(
            "Cache-Control",
            "How long the response is fresh; `no-store` if it must not be stored.",
            matching(patterns::CACHE_CONTROL),
            "private, max-age=300",
        ),
        field(
            "X-Accel-Buffering",
            "Tells proxies not to buffer the events.",
            json!({ "const": "no" }),
            "no",
        ),
        field(
            "Server-Timing",
            "The duration of the request to Mintlify in milliseconds, if there was one.",
            matching("^upstream;dur=[0-9]+$"),
            "upstream;dur=87",
        ),
        field(
            "RateLimit-Policy",
            "The budget: the number of requests (`q`) per window in seconds (`w`). An item whose \
                name ends in `-caller` is the token's own quota, one that ends in `-rule` is the \
                limit that all callers of its rule share.",
            matching(patterns::RATE_LIMIT_POLICY),
            "\"create-job\";q=100;w=3600",
        ),
        field(
            "RateLimit",
            "The number of requests left (`r`), and the seconds until the next one is available \
                (`t`).",
            matching(patterns::RATE_LIMIT),
            "\"create-job\";r=41;t=1800",
        ),
        field(
            "Retry-After",
            "The seconds to wait before you try again.",
            json!({ "type": "integer", "minimum": 0 }),
            60,
        ),
        field(
            "ETag",
            "For reports: equal for equal content. For a job with `Prefer: wait`: its state.",
            matching(r#"^"[A-Za-z0-9_.+-]+"$"#),
            "\"3\"",
        ),
        field(
            "Age",
            "The seconds since the response was fetched from Mintlify.",
            json!({ "type": "integer", "minimum": 0 }),
            17,
        ),
        field(
            "Cache-Status",
            "Whether the response came from the cache (RFC 9211).",
            matching("^quillgate; (?:hit|fwd=)"),
            "quillgate; hit; ttl=283",
        ),
    ];
    fields.extend(rare_response_fields());
    fields
}

/// Returns the fields of few operations.
fn rare_response_fields() -> Vec<Field> {
    vec![
        field(
            "Idempotent-Replayed",
            "The response is the stored one of an earlier request with the same key.",
            json!({ "const": "true" }),
            "true",
        ),
        field(
            "Preference-Applied",
            "The maximum wait that the gateway applied, in seconds.",
            matching("^wait=[0-9]{1,2}$"),
            "wait=25",
        ),
        field(
            "Content-Disposition",
            "The file's name: report, project and range.",
            matching(r#"^attachment; filename="[A-Za-z0-9._-]+"$"#),
            "attachment; filename=\"views_acme_2024-01-01_2024-02-01.csv\"",
        ),
        field(
            "Content-Language",
            "As Mintlify sends it.",
            json!({ "type": "string" }),
            "en",
        ),
        field(
            "WWW-Authenticate",
            "The required credentials (RFC 6750).",
            matching(r#"^Bearer realm="quillgate""#),
            "Bearer realm=\"quillgate\", error=\"invalid_token\"",
        ),
        field(
            "Allow",
            "The methods that the path supports.",
            matching("^[A-Z]+(?:, [A-Z]+)*$"),
            "GET, HEAD, OPTIONS",
        ),
        field(
            "Accept-Post",
            "The accepted media type.",
            json!({ "const": "application/json" }),
            "application/json",
        ),
    ]
}

/// Returns `components.parameters`.
pub fn parameters() -> Map<String, Value> {
    let parameter = |field: Field| {
        let described = json!({
            "name": field.name,
            "in": "header",
            "description": field.doc,
            "schema": field.schema,
            "examples": examples(field.example),
        });
        (field.name.to_owned(), described)
    };
    request_fields().into_iter().map(parameter).collect()
}

/// Returns the `examples` of a parameter, named `1`, `2` and so on.
fn examples(examples: Value) -> Map<String, Value> {
    let examples = match examples {
        Value::Array(several) => several,
        one => vec![one],
    };
    let example = |(number, value)| (format!("{number}"), json!({ "value": value }));
    (1..).zip(examples).map(example).collect()
}

/// Returns `components.headers`: each field that `paths` references. A field can have two entries,
/// one for responses that may have the field and one for responses that always have the field.
pub fn headers(paths: &Map<String, Value>) -> Map<String, Value> {
    let paths = Value::Object(paths.clone()).to_string();
    let is_used = |name: &str| paths.contains(&reference("headers", name).to_string());
    let mut headers = Map::new();
    for field in response_fields() {
        let described = json!({
            "description": field.doc,
            "schema": field.schema,
            "example": field.example,
        });
        let mut required = described.clone();
        required["required"] = true.into();
        headers.insert(field.name.to_owned(), described);
        headers.insert(required_name(field.name), required);
    }
    headers.retain(|name, _| is_used(name));
    headers
}

fn required_name(name: &str) -> String {
    format!("{name}.always")
}

/// The header fields of a response. The flag of a field is `true` if the field is always present.
#[derive(Clone, Default)]
pub struct Fields(Vec<(&'static str, bool)>);

impl Fields {
    /// Returns the fields that every response has.
    pub fn common() -> Self {
        Self::default().with(&["X-Request-Id", "Cache-Control"])
    }

    /// Adds fields that are always present.
    pub fn with(self, names: &[&'static str]) -> Self {
        self.add(names, true)
    }

    /// Adds fields that may be present.
    pub fn with_optional(self, names: &[&'static str]) -> Self {
        self.add(names, false)
    }

    fn add(mut self, names: &[&'static str], is_required: bool) -> Self {
        for name in names {
            if !self.0.iter().any(|(known, _)| known == name) {
                self.0.push((name, is_required));
            }
        }
        self
    }

    /// Returns the fields as the `headers` property of a Response Object.
    pub fn describe(&self) -> Map<String, Value> {
        let place = |(name, is_required): &(&str, bool)| {
            let key = if *is_required {
                required_name(name)
            } else {
                (*name).to_owned()
            };
            ((*name).to_owned(), reference("headers", &key))
        };
        self.0.iter().map(place).collect()
    }
}

/// Returns references to the parameters of these header fields.
pub fn parameter_references(names: &[&str]) -> Vec<Value> {
    names
        .iter()
        .map(|name| reference("parameters", name))
        .collect()
}
