//! Header fields of requests and responses.

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

/// The header fields that every request may have.
pub const ANY_REQUEST: [&str; 3] = ["X-Request-Id", "traceparent", "tracestate"];

/// Returns the schema of a string without restrictions.
fn any() -> Value {
    json!({ "type": "string" })
}

fn like(pattern: &str) -> Value {
    json!({ "type": "string", "pattern": pattern })
}

fn of_requests() -> Vec<Field> {
    vec![
        field(
            "X-Request-Id",
            "The request's id, which its answer and the gateway's log carry: 1 to 255 letters, digits, \
             `_`, `-` and `=`. Anything else is replaced by a fresh id.",
            any(),
            "build-42",
        ),
        field(
            "traceparent",
            "The trace that the request belongs to (W3C Trace Context), which is continued upstream. \
             One that is not valid is ignored.",
            any(),
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        ),
        field(
            "tracestate",
            "What tracing systems add to `traceparent`; sent on with it, at most 512 characters of whole \
             members. One that is not valid is ignored.",
            any(),
            "vendor=00f067aa0ba902b7",
        ),
        field(
            "Idempotency-Key",
            "A key of the caller's choosing, 1 to 255 visible ASCII characters, in quotes or bare. For a \
             day the same request under the same key is carried out once, and answered with what is \
             stored; another request under it is refused with 422. A key belongs to its caller and \
             project.",
            like(patterns::IDEMPOTENCY_KEY),
            "\"8e03978e-40d5-43e8-bc93-6894a57f9324\"",
        ),
        field(
            "Idempotency-Retry",
            "`force` sends a request again whose outcome is not known, or was a 5xx. Without it such a \
             request is never sent twice.",
            like(patterns::FORCE),
            "force",
        ),
        field(
            "Webhook-Url",
            "Where the end of this job is announced, as in `webhooks`: https, at a host by name or at a \
             public address in its usual notation, which the pattern leaves out. The operator lists the hosts \
             (`WEBHOOK_HOSTS`), and a gateway without them or without `WEBHOOK_SECRET` takes none.",
            json!({ "type": "string", "maxLength": MAX_URL_LENGTH, "pattern": patterns::WEBHOOK_URL }),
            "https://hooks.example/quillgate",
        ),
        field(
            "Cf-Turnstile-Response",
            "The response of a Turnstile widget, which a gateway with `TURNSTILE_SECRET` requires from \
             browsers; from others it is ignored.",
            any(),
            "0.mF3v_example",
        ),
        field(
            "Prefer",
            "`wait=n`: answer when the job has changed or ended, or after this many seconds, at most 25 \
             (RFC 7240). Of an export: how many seconds it may wait for the budget in all, at most 86400. \
             Anything else is ignored.",
            any(),
            "wait=25",
        ),
        field(
            "If-None-Match",
            "Entity tags that the caller has. Of page views: 304 when theirs is among them, or for `*`. \
             Of a job, with `Prefer: wait`: the state that the caller knows.",
            any(),
            json!(["\"3\"", "*"]),
        ),
        field(
            "Cache-Control",
            "`no-cache`: fetched from upstream again, within the budget. Anything else is ignored.",
            any(),
            "no-cache",
        ),
        field(
            "Last-Event-ID",
            "The id of the last event received. The stream resumes after it. Other values than numbers are \
             ignored.",
            any(),
            "2",
        ),
    ]
}

fn of_answers() -> Vec<Field> {
    vec![
        field(
            "X-Request-Id",
            "The request's id.",
            like(patterns::REQUEST_ID),
            "build-42",
        ),
        field(
            "Cache-Control",
            "How long the answer is fresh; `no-store` where nothing is kept.",
            like("^(?:no-store|private, (?:no-cache|no-store|max-age=[0-9]+)|public, max-age=60)$"),
            "private, max-age=300",
        ),
        field(
            "Server-Timing",
            "How much of the time the upstream took, in milliseconds, when it was asked.",
            like("^upstream;dur=[0-9]+$"),
            "upstream;dur=87",
        ),
        field(
            "RateLimit-Policy",
            "The budget: how many requests (`q`) in how many seconds (`w`); a second item is the token's \
             own quota.",
            like(r#"^"[a-z-]+";q=[0-9]+;w=[0-9]+(?:, "[a-z-]+";q=[0-9]+;w=[0-9]+)?$"#),
            "\"create-job\";q=100;w=3600",
        ),
        field(
            "RateLimit",
            "How many requests are left (`r`), and in how many seconds the next slot frees (`t`).",
            like(r#"^"[a-z-]+";r=[0-9]+(?:;t=[0-9]+)?(?:, "[a-z-]+";r=[0-9]+(?:;t=[0-9]+)?)?$"#),
            "\"create-job\";r=41;t=1800",
        ),
        field(
            "Retry-After",
            "In how many seconds to try again.",
            json!({ "type": "integer", "minimum": 0 }),
            60,
        ),
        field(
            "ETag",
            "Of page views: the same for the same bytes. Of a job that was waited for: its state.",
            like(r#"^"[A-Za-z0-9_.+-]+"$"#),
            "\"3\"",
        ),
        field(
            "Age",
            "How many seconds ago the answer was fetched upstream.",
            json!({ "type": "integer", "minimum": 0 }),
            17,
        ),
        field(
            "Cache-Status",
            "Whether the answer came from the cache (RFC 9211).",
            like("^quillgate; (?:hit|fwd=)"),
            "quillgate; hit; ttl=283",
        ),
        field(
            "Idempotent-Replayed",
            "The answer is that of an earlier request under the same key, as it was stored.",
            json!({ "const": "true" }),
            "true",
        ),
        field(
            "Preference-Applied",
            "How long the gateway was willing to wait, in seconds.",
            like("^wait=[0-9]{1,5}$"),
            "wait=25",
        ),
        field(
            "Content-Disposition",
            "The name of the file: report, project and range.",
            like(r#"^attachment; filename="[A-Za-z0-9._-]+"$"#),
            "attachment; filename=\"views_acme_2024-01-01_2024-02-01.csv\"",
        ),
        field(
            "Content-Language",
            "As the upstream sends it.",
            json!({ "type": "string" }),
            "en",
        ),
        field(
            "WWW-Authenticate",
            "What the gateway requires (RFC 6750).",
            like(r#"^Bearer realm="quillgate""#),
            "Bearer realm=\"quillgate\", error=\"invalid_token\"",
        ),
        field(
            "Allow",
            "The methods that the path has.",
            like("^[A-Z]+(?:, [A-Z]+)*$"),
            "GET, HEAD, OPTIONS",
        ),
        field(
            "Accept-Post",
            "The media type that is accepted.",
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
    of_requests().into_iter().map(parameter).collect()
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

/// Returns `components.headers`: each field that `answers` references. A field has separate entries
/// for responses that may have it and responses that always have it.
pub fn headers(answers: &Map<String, Value>) -> Map<String, Value> {
    let answers = Value::Object(answers.clone()).to_string();
    let is_used = |name: &str| answers.contains(&reference("headers", name).to_string());
    let mut headers = Map::new();
    for field in of_answers() {
        let described = json!({
            "description": field.doc,
            "schema": field.schema,
            "example": field.example,
        });
        let mut certain = described.clone();
        certain["required"] = true.into();
        headers.insert(field.name.to_owned(), described);
        headers.insert(always(field.name), certain);
    }
    headers.retain(|name, _| is_used(name));
    headers
}

fn always(name: &str) -> String {
    format!("{name}.always")
}

/// The header fields of a response, each either always or sometimes present.
#[derive(Clone, Default)]
pub struct Fields(Vec<(&'static str, bool)>);

impl Fields {
    /// Returns the fields that every response has.
    pub fn common() -> Self {
        Self::default().with(&["X-Request-Id", "Cache-Control"])
    }

    /// Adds fields that are always present.
    pub fn with(self, names: &[&'static str]) -> Self {
        self.and(names, true)
    }

    /// Adds fields that may be present.
    pub fn perhaps(self, names: &[&'static str]) -> Self {
        self.and(names, false)
    }

    fn and(mut self, names: &[&'static str], certain: bool) -> Self {
        for name in names {
            if !self.0.iter().any(|(known, _)| known == name) {
                self.0.push((name, certain));
            }
        }
        self
    }

    /// Returns the `headers` property of a Response Object.
    pub fn described(&self) -> Map<String, Value> {
        let place = |(name, certain): &(&str, bool)| {
            let key = if *certain {
                always(name)
            } else {
                (*name).to_owned()
            };
            ((*name).to_owned(), reference("headers", &key))
        };
        self.0.iter().map(place).collect()
    }
}

/// Returns references to the parameters of these header fields.
pub fn taken(names: &[&str]) -> Vec<Value> {
    names
        .iter()
        .map(|name| reference("parameters", name))
        .collect()
}
