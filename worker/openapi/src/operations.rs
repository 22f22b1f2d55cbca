//! Adds the declarations of the core to the operations of `openapi.yaml`.

use quillgate::Operation;
use quillgate::declaration::{Parameter, ParameterIn, ParameterKind, Repeat};
use quillgate::documentation::join_lines;
use quillgate_worker::jobs::records::MAX_TEXT_LENGTH;
use serde_json::{Value, json};

use super::{JsonObject, patterns, schemas, variables};

/// The header fields of requests that must not be repeated without a key.
const KEYED: [&str; 2] = ["Idempotency-Key", "Idempotency-Retry"];

/// Completes an Operation Object, with the shorthands of `openapi.yaml`. `project` is the parameter
/// of operations that have a project in their path.
pub fn complete(operation: Operation, described: &mut Value, project: &Value) {
    let (declared, documented) = (operation.declaration(), operation.documentation());
    assert!(
        described.is_object(),
        "openapi.yaml lacks {}",
        declared.name
    );
    described["operationId"] = declared.name.into();
    described["summary"] = join_lines(documented.summary).into();
    described["x-scope"] = declared.scope.as_str().into();
    if let Some(link) = documented.link {
        described["externalDocs"] = json!({ "url": link });
    }
    let has_project = declared.path.contains("{projectId}");
    let is_keyed = declared.repeat == Repeat::Keyed;
    let keys = KEYED.into_iter().filter(|_| is_keyed).map(Value::from);
    let written = described["parameters"].take();
    let parameters = has_project.then(|| project.clone()).into_iter();
    let parameters = parameters.chain(parameters_of(operation)).chain(keys);
    let written = written.as_array().into_iter().flatten().cloned();
    described["parameters"] = parameters.chain(written).collect();

    let variables = [
        ("result", operation.result().name().into()),
        ("body", body(operation)),
    ];
    let variables = variables.map(|(name, value)| (name.to_owned(), value));
    variables::substitute(described, &variables.into_iter().collect());
}

/// Returns the declared parameters in the path and the query.
fn parameters_of(operation: Operation) -> impl Iterator<Item = Value> {
    list_parameters(operation)
        .filter(|(own, _)| own.place != ParameterIn::Body)
        .map(move |(own, doc)| {
            json!({
                "name": own.name,
                "in": if own.place == ParameterIn::Path { "path" } else { "query" },
                "required": own.is_required,
                "description": doc,
                "schema": schema_of(operation, own),
            })
        })
}

/// Returns the schema of an operation's parameter.
fn schema_of(operation: Operation, parameter: &Parameter) -> Value {
    let pattern = match parameter.name {
        _ if is_day(operation, parameter) => Some(patterns::DAY),
        "cursor" => cursor_pattern(operation),
        "prefix" => Some(patterns::PATH_PREFIX),
        _ => None,
    };
    if operation == Operation::ListAgentJobs && parameter.name == "text" {
        return json!({ "type": "string", "minLength": 1, "maxLength": MAX_TEXT_LENGTH });
    }
    match pattern {
        Some(pattern) => json!({ "type": "string", "pattern": pattern }),
        None => schemas::of_parameter(parameter),
    }
}

/// Returns the pattern of the operation's cursor, or `None` if the gateway does not define its
/// format.
fn cursor_pattern(operation: Operation) -> Option<&'static str> {
    if matches!(
        operation,
        Operation::ListAgentJobs | Operation::ListDeployments
    ) {
        return Some(patterns::JOB_LIST_CURSOR);
    }
    let list = operation.exported()?.declaration();
    let cursor = list.parameter("cursor");
    Some(match cursor.map(|cursor| cursor.kind) {
        None => patterns::ROW_COUNT_CURSOR,
        Some(ParameterKind::Ulid) => patterns::ULID_PAGE_CURSOR,
        Some(_) => patterns::PAGE_CURSOR,
    })
}

/// Whether a parameter accepts only an archived day: a date without a time.
fn is_day(operation: Operation, parameter: &Parameter) -> bool {
    let name = parameter.name;
    match operation {
        Operation::ListDailyViews => matches!(name, "dateFrom" | "dateTo" | "cursor"),
        Operation::ListArchivedViews => matches!(name, "dateFrom" | "dateTo"),
        Operation::EstimateBackfill | Operation::BeginBackfill => name == "dateFrom",
        _ => false,
    }
}

/// Returns an operation's parameters with their documentation.
fn list_parameters(
    operation: Operation,
) -> impl Iterator<Item = (&'static Parameter, &'static str)> {
    let docs = operation.documentation().parameters.iter().copied();
    operation.declaration().parameters.iter().zip(docs)
}

/// Returns the schema of the body. It allows no additional properties.
fn body(operation: Operation) -> Value {
    let members = list_parameters(operation).filter(|(own, _)| own.place == ParameterIn::Body);
    let members: Vec<_> = members.collect();
    let property = |(own, doc): &(&Parameter, &str)| {
        let mut schema = schema_of(operation, own);
        schema["description"] = (*doc).into();
        (own.name.to_owned(), schema)
    };
    let required = members.iter().map(|(own, _)| own.name);
    json!({
        "type": "object",
        "properties": members.iter().map(property).collect::<JsonObject>(),
        "required": required.collect::<Vec<_>>(),
        "additionalProperties": false,
    })
}
