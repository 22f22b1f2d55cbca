//! Compares the document with the tables that the gateway itself uses.

mod problems;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use quillgate::declaration::ParameterIn;
use quillgate::{Method, Operation, RateLimitPolicy, Rule};
use quillgate_worker::http::cors;
use quillgate_worker::http::gateway_rule::GatewayRule;
use quillgate_worker::http::problem_kind::ProblemKind;
use quillgate_worker::jobs::webhook::JobEnd;
use serde_json::{Map, Value, json};

use super::description;
use super::problems::schema_name;

static DOCUMENT: LazyLock<Value> = LazyLock::new(description);

const PULL_REQUEST: &str = "/v2/agent/{projectId}/job/{id}/pull-request";

/// The gateway's own operations: path and operation id.
const OWN: [(&str, &str); 18] = [
    ("/healthz", "gateway.health"),
    ("/healthz", "gateway.healthHead"),
    ("/healthz/blocks/analytics", "gateway.liftAnalyticsBlock"),
    (
        "/healthz/blocks/create-deployment",
        "gateway.liftDeploymentBlock",
    ),
    ("/healthz/blocks/create-preview", "gateway.liftPreviewBlock"),
    ("/healthz/blocks/{policy}", "gateway.liftBlock"),
    ("/openapi.json", "gateway.description"),
    ("/openapi.json", "gateway.descriptionHead"),
    (PULL_REQUEST, "gateway.pullRequest"),
    (PULL_REQUEST, "gateway.pullRequestHead"),
    ("/session", "gateway.session"),
    ("/session", "gateway.sessionHead"),
    ("/session", "gateway.openSession"),
    ("/session", "gateway.endSession"),
    ("/session/methods", "gateway.sessionMethods"),
    ("/session/methods", "gateway.sessionMethodsHead"),
    ("/session/start", "gateway.startSignIn"),
    ("/session/callback", "gateway.concludeSignIn"),
];

/// Returns all operations of the document.
fn operations() -> Vec<(String, String, Value)> {
    let of_path = |(path, item): (&String, &Value)| {
        let operations = item.as_object().expect("a path item");
        let one = |(method, operation): (&String, &Value)| {
            (method.to_uppercase(), path.clone(), operation.clone())
        };
        operations.iter().map(one).collect::<Vec<_>>()
    };
    DOCUMENT["paths"]
        .as_object()
        .expect("paths")
        .iter()
        .flat_map(of_path)
        .collect()
}

/// Returns the Operation Object of a declared operation.
fn find(operation: Operation) -> Value {
    let declared = operation.declaration();
    let found = operations()
        .into_iter()
        .find(|(method, path, _)| method == declared.method.as_str() && path == declared.path);
    found
        .unwrap_or_else(|| panic!("{} is not described", declared.name))
        .2
}

#[test]
fn the_document_has_exactly_the_declared_operations_and_the_gateways_own() {
    let id = |operation: &Value| operation["operationId"].as_str().map(str::to_owned);
    let described: BTreeSet<_> = operations()
        .into_iter()
        .map(|(method, path, operation)| (path, id(&operation).expect("an id"), method))
        .filter(|(path, id, _)| !OWN.contains(&(path, id)))
        .collect();
    let table: BTreeSet<_> = Operation::ALL
        .iter()
        .map(|operation| operation.declaration())
        .flat_map(|it| {
            let own = (
                it.path.to_owned(),
                it.name.to_owned(),
                it.method.as_str().to_owned(),
            );
            // Every `GET` operation has a `HEAD` variant.
            let head = (it.method == Method::Get).then(|| {
                let name = format!("{}Head", it.name);
                (it.path.to_owned(), name, "HEAD".to_owned())
            });
            std::iter::once(own).chain(head)
        })
        .collect();
    assert_eq!(described, table);
}

#[test]
fn an_operation_requires_its_declared_scope() {
    for operation in Operation::ALL.iter().copied() {
        let security = &find(operation)["security"];
        let operation = operation.declaration();
        for scheme in security.as_array().expect("security") {
            let scopes: Vec<_> = scheme.as_object().expect("a scheme").values().collect();
            assert_eq!(
                scopes,
                [&serde_json::json!([operation.scope.as_str()])],
                "{}",
                operation.name
            );
        }
        assert_eq!(
            security.as_array().map(Vec::len),
            Some(3),
            "{}",
            operation.name
        );
    }
}

#[test]
fn an_operation_has_exactly_its_declared_parameters() {
    for operation in Operation::ALL.iter().copied() {
        let described = find(operation);
        let operation = operation.declaration();
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
        if operation.path.contains("{projectId}") {
            assert_eq!(
                found.remove(0),
                ("path".into(), "projectId".into(), true.into())
            );
        }
        let outside = operation
            .parameters
            .iter()
            .filter(|own| own.place != ParameterIn::Body);
        let expected: Vec<_> = outside
            .map(|own| {
                let place = if own.place == ParameterIn::Path {
                    "path"
                } else {
                    "query"
                };
                (place.into(), own.name.into(), own.is_required.into())
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
            .filter(|own| own.place == ParameterIn::Body);
        assert_eq!(members, expected.map(|own| own.name.to_owned()).collect());
        assert!(members.is_empty() || body["additionalProperties"] == false);
    }
}

#[test]
fn every_reference_resolves() {
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
    let mut found = Vec::new();
    references(&DOCUMENT, &mut found);
    assert!(found.len() > 100, "{} references", found.len());
    for reference in found {
        let place = reference
            .strip_prefix('#')
            .expect("a place in the document");
        assert!(DOCUMENT.pointer(place).is_some(), "{reference}");
    }
}

#[test]
fn no_shorthand_remains() {
    let document = DOCUMENT.to_string();
    for shorthand in ["${", "\"x-"] {
        assert!(!document.contains(shorthand), "{shorthand}");
    }
}

#[test]
fn webhooks_announce_every_end_of_a_job() {
    let body = "/post/requestBody/content/application~1json/schema";
    let types = format!("/webhooks/agentJobEnded{body}/properties/type/enum");
    let ends = [
        JobEnd::Completed,
        JobEnd::Failed,
        JobEnd::Archived,
        JobEnd::Unfinished,
        JobEnd::NotFound,
    ];
    let expected = ends.map(|end| {
        let name = json!(end);
        format!("agent_job.{}", name.as_str().expect("a string"))
    });
    assert_eq!(DOCUMENT.pointer(&types), Some(&expected.to_vec().into()));
}

#[test]
fn every_problem_kind_is_described_and_used() {
    let responses = DOCUMENT["paths"].to_string();
    for kind in ProblemKind::ALL.iter().copied() {
        let name = schema_name(kind);
        let schema = &DOCUMENT["components"]["schemas"][&name];
        assert_eq!(schema["properties"]["title"]["examples"][0], kind.title());
        let words = schema["description"].as_str().expect("a description");
        for line in kind.documentation() {
            assert!(words.contains(line.trim()), "{words}");
        }
        let status = &schema["properties"]["status"]["const"];
        match kind.status() {
            Some(own) => assert_eq!(*status, own),
            None => assert!(status.is_null()),
        }
        let reference = format!("#/components/schemas/{name}\"");
        assert!(responses.contains(&reference), "{name} occurs nowhere");
    }
}

#[test]
fn rules_and_policies_are_listed() {
    let problem = &DOCUMENT["components"]["schemas"]["Problem"]["properties"];
    let rules = &problem["errors"]["items"]["properties"]["rule"]["enum"];
    let rules = rules.as_array().expect("rules");
    for rule in GatewayRule::ALL {
        assert!(rules.contains(&rule.as_str().into()), "{rule:?}");
    }
    let core: Vec<_> = Rule::ALL.iter().map(|rule| rule.name()).collect();
    let own = GatewayRule::ALL.map(GatewayRule::as_str);
    for rule in rules.iter().filter_map(Value::as_str) {
        assert!(core.contains(&rule) || own.contains(&rule), "{rule}");
    }
    let policies = &problem["violated-policies"]["items"]["enum"];
    let policies = policies.as_array().expect("policies");
    for policy in RateLimitPolicy::ALL {
        assert!(policies.contains(&policy.as_str().into()));
        for limit in ["caller", "rule"] {
            assert!(policies.contains(&format!("{}-{limit}", policy.as_str()).into()));
        }
    }
    assert_eq!(policies.len(), 3 * RateLimitPolicy::ALL.len());
}

#[test]
fn cors_allows_every_described_header_field() {
    let named = |section: &str| -> BTreeSet<String> {
        let names = DOCUMENT["components"][section]
            .as_object()
            .expect("names")
            .keys();
        names
            .map(|name| name.trim_end_matches(".always").to_lowercase())
            .collect()
    };
    // The document describes the first two as security schemes and media types. The gateway ignores
    // the third.
    let undescribed = ["authorization", "content-type", "quillgate-client"];
    let sent = without(listed(cors::SENT), &undescribed);
    assert_eq!(named("parameters"), sent);
    // Pages can read the first two without CORS permission: they are safelisted. Pages do not need
    // the others.
    let unsaid = [
        "cache-control",
        "content-language",
        "allow",
        "accept-post",
        "x-accel-buffering",
    ];
    let exposed = listed(cors::EXPOSED);
    assert_eq!(without(named("headers"), &unsaid), exposed);
}

/// Splits a comma-separated list of names and converts them to lower case.
fn listed(names: &str) -> BTreeSet<String> {
    names.split(", ").map(str::to_lowercase).collect()
}

fn without(mut names: BTreeSet<String>, others: &[&str]) -> BTreeSet<String> {
    names.retain(|name| !others.contains(&name.as_str()));
    names
}
