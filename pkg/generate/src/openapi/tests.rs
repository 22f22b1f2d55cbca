//! That the document says what the gateway's tables and sources say.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use quillgate::endpoint::{Operation, Place};
use quillgate::{ApiError, Method, Millis, Rule, ValidationError};
use quillgate_worker::access::{self, Caller, Grant, Quota};
use quillgate_worker::breaker::{Breaker, LEAST_CALLS};
use quillgate_worker::budget::{self, Ask, Used, Verdict};
use quillgate_worker::idempotency::{self, Retry, State, Stored};
use quillgate_worker::problem::Problem;
use quillgate_worker::turnstile::{self, Turnstile};
use quillgate_worker::upstream::{self, Reading, Silence};
use quillgate_worker::{content, cors, ledger, route, webhook};
use serde_json::{Map, Value};

use super::description;
use super::problems::{self, Status};

/// Paths that are the gateway's own, with the operations there.
const OWN: [(&str, &str); 4] = [
    ("/healthz", "gateway.health"),
    ("/healthz", "gateway.healthHead"),
    ("/openapi.json", "gateway.description"),
    ("/openapi.json", "gateway.descriptionHead"),
];

/// Every operation of the document: its method, its path and what is said of it.
fn described() -> Vec<(String, String, Value)> {
    let document = description();
    let of_path = |(path, item): (&String, &Value)| {
        let operations = item.as_object().expect("a path item");
        let one = |(method, operation): (&String, &Value)| {
            (method.to_uppercase(), path.clone(), operation.clone())
        };
        operations.iter().map(one).collect::<Vec<_>>()
    };
    document["paths"]
        .as_object()
        .expect("paths")
        .iter()
        .flat_map(of_path)
        .collect()
}

fn described_as(operation: &Operation) -> Value {
    let found = described()
        .into_iter()
        .find(|(method, path, _)| method == operation.method.as_str() && path == operation.path);
    found
        .unwrap_or_else(|| panic!("{} is not described", operation.name))
        .2
}

#[test]
fn every_operation_of_the_table_is_described_and_nothing_else() {
    let id = |operation: &Value| operation["operationId"].as_str().map(str::to_owned);
    let described: BTreeSet<_> = described()
        .into_iter()
        .map(|(method, path, operation)| (path, id(&operation).expect("an id"), method))
        .filter(|(path, id, _)| !OWN.contains(&(path, id)))
        .collect();
    let table: BTreeSet<_> = route::operations()
        .map(|it| {
            (
                it.path.to_owned(),
                it.name.to_owned(),
                it.method.as_str().to_owned(),
            )
        })
        .collect();
    assert_eq!(described, table);
}

#[test]
fn an_operation_needs_the_scope_that_the_table_says() {
    for operation in route::operations() {
        let security = &described_as(operation)["security"];
        for scheme in security.as_array().expect("security") {
            let scopes: Vec<_> = scheme.as_object().expect("a scheme").values().collect();
            assert_eq!(
                scopes,
                [&serde_json::json!([operation.scope])],
                "{}",
                operation.name
            );
        }
        assert_eq!(
            security.as_array().map(Vec::len),
            Some(2),
            "{}",
            operation.name
        );
    }
}

#[test]
fn an_operation_takes_the_parameters_of_the_table_and_no_others() {
    for operation in route::operations() {
        let described = described_as(operation);
        let own = |own: &&Value| own["in"] == "path" || own["in"] == "query";
        let mut found: Vec<_> = described["parameters"]
            .as_array()
            .expect("parameters")
            .iter()
            .filter(own)
            .map(|own| {
                (
                    own["in"].clone(),
                    own["name"].clone(),
                    own["required"].clone(),
                )
            })
            .collect();
        assert_eq!(
            found.remove(0),
            ("path".into(), "projectId".into(), true.into())
        );
        let outside = operation
            .parameters
            .iter()
            .filter(|own| own.place != Place::Body);
        let expected: Vec<_> = outside
            .map(|own| {
                let place = if own.place == Place::Path {
                    "path"
                } else {
                    "query"
                };
                (place.into(), own.name.into(), own.required.into())
            })
            .collect();
        assert_eq!(found, expected, "{}", operation.name);

        let body = &described["requestBody"]["content"]["application/json"]["schema"];
        let members: BTreeSet<_> = body["properties"]
            .as_object()
            .into_iter()
            .flat_map(Map::keys)
            .cloned()
            .collect();
        let expected = operation
            .parameters
            .iter()
            .filter(|own| own.place == Place::Body);
        assert_eq!(members, expected.map(|own| own.name.to_owned()).collect());
        assert!(members.is_empty() || body["additionalProperties"] == false);
    }
}

#[test]
fn every_reference_leads_somewhere() {
    fn references(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(members) => {
                found.extend(
                    members
                        .get("$ref")
                        .and_then(Value::as_str)
                        .map(str::to_owned),
                );
                members
                    .values()
                    .for_each(|member| references(member, found));
            }
            Value::Array(items) => items.iter().for_each(|item| references(item, found)),
            _ => {}
        }
    }
    let document = description();
    let mut found = Vec::new();
    references(&document, &mut found);
    assert!(found.len() > 100, "{} references", found.len());
    for reference in found {
        let place = reference
            .strip_prefix('#')
            .expect("a place in the document");
        assert!(document.pointer(place).is_some(), "{reference}");
    }
}

/// The Worker's sources, by file name.
fn sources() -> BTreeMap<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../worker/src");
    let files = fs::read_dir(folder).expect("the Worker's sources");
    let read = |file: fs::DirEntry| {
        let name = file.file_name().into_string().expect("a name");
        (name, fs::read_to_string(file.path()).expect("a source"))
    };
    files.map(|file| read(file.expect("a file"))).collect()
}

/// What stands between quotes in a text, none of which holds an escape.
fn literals(text: &str) -> Vec<&str> {
    text.split('"').skip(1).step_by(2).collect()
}

/// The values of a constant that is a list in one text.
fn listed(source: &str, constant: &str) -> BTreeSet<String> {
    let (_, rest) = source
        .split_once(&format!("const {constant}: &str ="))
        .expect("the constant");
    literals(rest)[0]
        .split(", ")
        .map(str::to_lowercase)
        .collect()
}

#[test]
fn every_kind_of_problem_that_the_worker_makes_is_described_and_no_other() {
    let sources = sources();
    let mut made = BTreeSet::new();
    for (file, source) in &sources {
        let own = if file == "problem.rs" {
            "Self::new("
        } else {
            "Problem::new("
        };
        for call in source.split(own).skip(1) {
            let (status, rest) = call.split_once(',').expect("arguments");
            made.insert((status.trim().to_owned(), literals(rest)[0].to_owned()));
        }
    }
    let described = problems::ALL.iter().map(|problem| match problem.status {
        Status::Own(status) => (status.to_string(), problem.kind.to_owned()),
        Status::Upstream => ("status".to_owned(), problem.kind.to_owned()),
    });
    assert_eq!(made, described.collect());
    for problem in &problems::ALL {
        let title = format!("\"{}\"", problem.title);
        assert!(
            sources.values().any(|source| source.contains(&title)),
            "{title}"
        );
    }
}

#[test]
fn every_rule_of_the_workers_own_is_described_and_no_other() {
    let mut made = BTreeSet::new();
    for source in sources().values() {
        let after = |start| source.split(start).skip(1);
        // `field`, then `rule`; what is no call with two texts is the definition.
        let calls = after("Problem::field(").chain(after("Self::field("));
        made.extend(calls.filter_map(|call| {
            let (arguments, _) = call.split_once(')')?;
            Some((*literals(arguments).get(1)?).to_owned())
        }));
        made.extend(
            after("\"rule\": \"").filter_map(|rest| Some(rest.split_once('"')?.0.to_owned())),
        );
    }
    let document = description();
    let rules = &document["components"]["schemas"]["Problem"]["properties"]["errors"]["items"];
    let rules = rules["properties"]["rule"]["enum"]
        .as_array()
        .expect("rules");
    let core = Rule::ALL.map(Rule::name);
    let own = rules
        .iter()
        .filter_map(Value::as_str)
        .filter(|rule| !core.contains(rule));
    assert_eq!(made, own.map(str::to_owned).collect());
}

#[test]
fn a_page_may_send_and_read_every_header_field_that_is_described() {
    let cors = &sources()["cors.rs"];
    let named = |section: &str| -> BTreeSet<String> {
        let document = description();
        let names = document["components"][section]
            .as_object()
            .expect("names")
            .keys();
        names
            .map(|name| name.trim_end_matches(".always").to_lowercase())
            .collect()
    };
    // What security schemes, bodies and browsers bring with them.
    let sent = without(listed(cors, "SENT"), &["authorization", "content-type"]);
    assert_eq!(named("parameters"), sent);
    // What every page may read, and what says nothing to it.
    let unsaid = ["cache-control", "content-language", "allow", "accept-post"];
    assert_eq!(without(named("headers"), &unsaid), listed(cors, "EXPOSED"));
}

fn without(mut names: BTreeSet<String>, others: &[&str]) -> BTreeSet<String> {
    names.retain(|name| !others.contains(&name.as_str()));
    names
}

/// Checks a problem against the description of its kind.
fn assert_described(problem: &Problem) {
    let kind = problem.kind;
    let described = problems::ALL.iter().find(|known| known.kind == kind);
    let described = described.unwrap_or_else(|| panic!("{kind} is not described"));
    let document = description();
    let schema = &document["components"]["schemas"][described.name()];
    let json: Value = serde_json::from_str(&problem.to_json("id")).expect("JSON");
    for member in json.as_object().expect("an object").keys() {
        let names = schema["propertyNames"]["enum"].as_array().expect("names");
        assert!(
            names.contains(&member.as_str().into()),
            "{kind} has {member}"
        );
    }
    for member in described.members {
        assert!(json.get(member).is_some(), "{kind} lacks {member}");
    }
    for (member, expected) in schema["properties"].as_object().expect("properties") {
        assert_eq!(json[member], expected["const"], "{kind}: {member}");
    }
    for name in described.fields {
        let name = name.to_lowercase();
        assert!(
            problem.headers.iter().any(|(own, _)| *own == name),
            "{kind} lacks {name}"
        );
    }
}

#[test]
fn problems_are_as_their_kinds_are_described() {
    for problem in [
        made_at_once(),
        of_callers(),
        of_the_upstream(),
        of_records(),
    ]
    .concat()
    {
        assert_described(&problem);
    }
}

fn made_at_once() -> Vec<Problem> {
    vec![
        Problem::not_found(),
        Problem::method_not_allowed("GET, OPTIONS"),
        Problem::misconfigured("ADMIN_API_KEY", "is not set"),
        Problem::unsupported_media_type(),
        Problem::content_too_large(content::LARGEST_BODY),
        Problem::invalid(&ValidationError::new("limit", Rule::PageSize, "")),
        Problem::malformed_body(),
        Problem::webhooks_off(),
        Problem::no_webhook_here(),
        Problem::issuer_unavailable(),
        Problem::gate_unavailable(),
        upstream::uncertain(Problem::gate_unavailable(), Method::Post),
        Problem::internal(),
        ledger::before("?").expect_err("no cursor"),
        webhook::target("http://a", &[]).expect_err("no address"),
        Retry::read(Some("again")).expect_err("no word"),
        turnstile()
            .asked(None, "https://a")
            .expect_err("no response"),
        turnstile::failed(),
        turnstile::unavailable(),
    ]
}

fn turnstile() -> Turnstile {
    Turnstile {
        secret: "s".to_owned(),
        site_key: "k".to_owned(),
        verify_url: "https://a".to_owned(),
    }
}

fn of_callers() -> Vec<Problem> {
    let caller = Caller {
        issuer: "i".to_owned(),
        subject: "s".to_owned(),
        grants: vec![Grant::new(vec!["a".to_owned()], "jobs:read")],
        quota: Quota::default(),
    };
    vec![
        access::not_accepted("the access token has expired"),
        caller
            .authorize("b", "jobs:read")
            .expect_err("another project"),
        caller
            .authorize("a", "jobs:create")
            .expect_err("another scope"),
        caller.operates().expect_err("another scope"),
        cors::origin(Some("https://b"), "https://a/", &[]).expect_err("another origin"),
    ]
}

fn of_the_upstream() -> Vec<Problem> {
    let error = |status, details: &[&str]| ApiError {
        status,
        message: "no".to_owned(),
        details: details.iter().map(|text| (*text).to_owned()).collect(),
        code: None,
        request_id: None,
        retry_after: None,
    };
    let of_head = |status, content_type| match upstream::reading(status, content_type) {
        Reading::Problem(problem) => problem,
        other => panic!("{other:?}"),
    };
    vec![
        of_head(200, None),
        of_head(302, None),
        upstream::key_refused(),
        upstream::malformed(Method::Post),
        upstream::silence(Silence::Broken, Method::Get),
        upstream::silence(Silence::TimedOut, Method::Post),
        upstream::error(&error(400, &["limit"]), Method::Get),
        upstream::error(&error(503, &[]), Method::Post),
        upstream::error(&error(999, &[]), Method::Get),
    ]
}

fn of_records() -> Vec<Problem> {
    let now = Millis(1_000_000);
    let mut breaker = Breaker::default();
    for _ in 0..LEAST_CALLS {
        breaker.told(false, now);
    }
    let ask = Ask {
        policy: "analytics",
        limit: 1,
        window: 1000,
        now: now.0,
        caller: "a".to_owned(),
        share: Some(1),
        closed_until: None,
        used: vec![Used {
            caller: "a".to_owned(),
            count: 1,
            oldest: now.0,
        }],
        claims: Vec::new(),
    };
    let Verdict::Refused(refused) = budget::reserve(&ask) else {
        panic!("the budget is spent")
    };
    let repeated = |state, live, fingerprint| {
        let stored = Stored {
            fingerprint: "first".to_owned(),
            state,
            live,
            at: now.0,
            status: None,
        };
        match idempotency::verdict(Some(&stored), fingerprint, Retry::Normal, now) {
            idempotency::Verdict::Refused(problem) => problem,
            other => panic!("{other:?}"),
        }
    };
    vec![
        breaker.allow(now).expect_err("an open breaker"),
        refused.problem,
        repeated(State::Running, true, "first"),
        repeated(State::Unknown, false, "first"),
        repeated(State::Done, false, "other"),
    ]
}
