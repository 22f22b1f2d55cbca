//! Expands the shorthands that `openapi.yaml` documents.

use quillgate::documentation::join_lines;
use quillgate::{Method, Operation, Scope};
use serde_json::{Value, json};

use super::{JsonObject, object, problems, reference};

/// The parameters of every operation.
const ALL_REQUESTS: [&str; 3] = ["X-Request-Id", "traceparent", "tracestate"];
/// The header fields of every response.
const ALL_RESPONSES: [&str; 2] = ["X-Request-Id", "Cache-Control"];
const SECURITY_SCHEMES: [&str; 3] = ["accessToken", "cloudflareAccess", "session"];

/// Expands the operations of a Path Item Object, and adds `head`.
pub fn expand(item: &mut JsonObject, groups: &Value) {
    for operation in item.values_mut() {
        expand_operation(object(operation), groups);
    }
    let Some(get) = item.get_mut("get").map(object) else {
        return;
    };
    if get.remove("x-head") != Some(false.into()) {
        let head = head(get);
        item.insert("head".to_owned(), head);
    }
}

fn expand_operation(operation: &mut JsonObject, groups: &Value) {
    let id = operation["operationId"].as_str().expect("an id");
    let tag = json!([id.split('.').next()]);
    operation.entry("tags").or_insert(tag);
    if let Some(scope) = operation.remove("x-scope") {
        assert!(
            Scope::ALL.iter().any(|known| scope == known.as_str()),
            "{scope}"
        );
        let schemes = SECURITY_SCHEMES.map(|scheme| json!({ scheme: [scope] }));
        list(operation, "security").extend(schemes);
    }

    let parameters = list(operation, "parameters");
    for name in ALL_REQUESTS.map(Value::from) {
        if !parameters.contains(&name) {
            parameters.push(name);
        }
    }
    for parameter in parameters {
        if let Some(name) = parameter.as_str() {
            *parameter = reference("parameters", name);
        }
    }

    let kinds = operation.remove("x-problems").unwrap_or_default();
    let fields = operation.remove("x-problem-headers").unwrap_or_default();
    let problems = problems::responses(&kinds, fields.as_object(), groups);
    let responses = object(&mut operation["responses"]);
    responses.extend(problems);
    for response in responses.values_mut().map(object) {
        expand_headers(response);
        if let Some(links) = response.get_mut("links").map(object) {
            *links = std::mem::take(links)
                .into_iter()
                .flat_map(expand_link)
                .collect();
        }
    }
}

/// Returns a list of an operation. Adds the list if it is absent.
fn list<'a>(operation: &'a mut JsonObject, name: &str) -> &'a mut Vec<Value> {
    let list = operation.entry(name).or_insert_with(|| json!([]));
    list.as_array_mut().expect("a list")
}

fn expand_headers(response: &mut JsonObject) {
    let headers = object(response.entry("headers").or_insert_with(|| json!({})));
    for name in ALL_RESPONSES {
        headers.entry(name).or_insert("always".into());
    }
    for (name, header) in headers {
        match header.as_str() {
            Some("always") => *header = reference("headers", &always(name)),
            Some("optional") => *header = reference("headers", name),
            Some(other) => panic!("{name}: {other}"),
            None => {}
        }
    }
}

/// Returns the name of the component for responses that always have a field.
fn always(field: &str) -> String {
    format!("{field}.always")
}

/// Returns the Link Objects to an operation and to its `HEAD` variant.
fn expand_link((name, mut link): (String, Value)) -> impl Iterator<Item = (String, Value)> {
    let operation = Operation::ALL
        .iter()
        .find(|operation| operation.declaration().name == name)
        .unwrap_or_else(|| panic!("{name} is not declared"));
    link["description"] = join_lines(operation.documentation().summary).into();
    let has_head = operation.declaration().method == Method::Get;
    let head = has_head.then(|| head_id(&name));
    [name].into_iter().chain(head).map(move |id| {
        let mut link = link.clone();
        link["operationId"] = id.as_str().into();
        (id, link)
    })
}

fn head_id(id: &str) -> String {
    format!("{id}Head")
}

/// Returns the `HEAD` variant of a `GET` operation: its responses have no content (RFC 9110,
/// section 9.3.2).
fn head(get: &JsonObject) -> Value {
    let mut head = Value::from(get.clone());
    head["operationId"] = head_id(head["operationId"].as_str().expect("an id")).into();
    for response in object(&mut head["responses"]).values_mut() {
        object(response).remove("content");
    }
    head
}

/// Returns `components.headers`: for each header field, the entries that the paths reference.
pub fn headers(document: &Value) -> JsonObject {
    let paths = document["paths"].to_string();
    let mut headers = JsonObject::new();
    for (name, header) in document["components"]["headers"]
        .as_object()
        .into_iter()
        .flatten()
    {
        let mut required = header.clone();
        required["required"] = true.into();
        headers.insert(name.clone(), header.clone());
        headers.insert(always(name), required);
    }
    headers.retain(|name, _| paths.contains(&reference("headers", name).to_string()));
    headers
}
