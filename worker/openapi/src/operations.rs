//! Builds the Operation Object of each operation that the core declares.

use quillgate::Operation;
use quillgate::declaration::{Parameter, ParameterIn, ParameterKind, Repeat};
use quillgate_worker::http::content::MAX_BODY;
use quillgate_worker::jobs::records::MAX_TEXT_LENGTH;
use serde_json::{Map, Value, json};

use super::details::{Details, RATE_LIMIT, Success, details};
use super::fields::{self, Fields};
use super::problems::{self, ADMISSION, PROJECT};
use super::{JSON, exports, links, patterns, schemas, security, streams, webhooks};
use quillgate::documentation::join_lines;

/// Returns the Operation Object of an operation.
pub fn describe(operation: Operation) -> Value {
    let details = details(operation);
    let (declared, documented) = (operation.declaration(), operation.documentation());
    let group = declared.name.split('.').next();
    let kinds = [&[ADMISSION, PROJECT], details.problems].concat().concat();
    let mut responses = problems::responses(&kinds, details.response_fields);
    responses.extend(successes(operation, &details));
    let mut described = json!({
        "operationId": declared.name,
        "tags": [group],
        "summary": join_lines(documented.summary),
        "security": security(declared.scope.as_str()),
        "parameters": parameters(operation, &details),
        "responses": responses,
    });
    if !details.doc.is_empty() {
        described["description"] = details.doc.into();
    }
    if let Some(link) = documented.link {
        described["externalDocs"] = json!({ "url": link });
    }
    let mut parameters = declared.parameters.iter();
    if parameters.any(|own| own.place == ParameterIn::Body) {
        described["requestBody"] = body(operation);
    }
    if let Some(webhook) = webhooks::find(operation) {
        let target = json!({ "{$request.header.Webhook-Url}": webhooks::reference(webhook) });
        described["callbacks"] = json!({ webhook: target });
    }
    described
}

fn parameters(operation: Operation, details: &Details) -> Vec<Value> {
    let project = json!({
        "name": "projectId",
        "in": "path",
        "required": true,
        "description": "The project's identifier.",
        "schema": schemas::path_segment(),
        "example": "demo-docs",
    });
    let named = list_parameters(operation)
        .filter(|(own, _)| own.place != ParameterIn::Body)
        .map(|(own, doc)| {
            json!({
                "name": own.name,
                "in": if own.place == ParameterIn::Path { "path" } else { "query" },
                "required": own.is_required,
                "description": doc,
                "schema": schema_of(operation, own),
            })
        });
    let keyed: &[_] = match operation.declaration().repeat {
        Repeat::Keyed => &fields::KEYED,
        Repeat::Safe | Repeat::Never => &[],
    };
    let fields = [keyed, details.request_fields, &fields::ALL_REQUESTS].concat();
    let has_project = operation.declaration().path.contains("{projectId}");
    has_project
        .then_some(project)
        .into_iter()
        .chain(named)
        .chain(fields::parameter_references(&fields))
        .collect()
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

/// Returns the Request Body Object. The schema allows no additional properties.
fn body(operation: Operation) -> Value {
    let members = list_parameters(operation).filter(|(own, _)| own.place == ParameterIn::Body);
    let members: Vec<_> = members.collect();
    let property = |(own, doc): &(&Parameter, &str)| {
        let mut schema = schema_of(operation, own);
        schema["description"] = (*doc).into();
        (own.name.to_owned(), schema)
    };
    let properties: Map<_, _> = members.iter().map(property).collect();
    let required = members.iter().map(|(own, _)| own.name);
    let example = match operation {
        Operation::BeginBackfill => json!({ "dateFrom": "2026-01-01" }),
        Operation::CreatePreview => json!({ "branch": "docs/new-endpoint" }),
        _ => json!({ "prompt": "Fix the typing errors on the start page." }),
    };
    json!({
        "required": true,
        "description": format!("JSON in UTF-8, at most {MAX_BODY} bytes, without repeated \
            properties."),
        "content": { JSON: {
            "schema": {
                "type": "object",
                "properties": properties,
                "required": required.collect::<Vec<_>>(),
                "additionalProperties": false,
            },
            "example": example,
        } },
    })
}

fn successes(operation: Operation, details: &Details) -> Map<String, Value> {
    let fields = Fields::common();
    let json_response = |fields: Fields, doc: &str| {
        json!({
            "description": doc,
            "headers": fields.with_optional(details.response_fields).describe(),
            "content": { JSON: { "schema": schemas::of(operation.result()) } },
        })
    };
    let conditional = |fields: Fields, doc: &str| {
        let fresh = json_response(fields, doc);
        let not_modified = json!({ "description": NOT_MODIFIED, "headers": fresh["headers"] });
        vec![("200", fresh), ("304", not_modified)]
    };
    let successes = match details.success {
        Success::Forwarded(status, doc, optional) => {
            let fields = fields.with_optional(optional);
            let mut response = json_response(fields.clone(), doc);
            if operation == Operation::CreateAgentJob {
                response["links"] = links::from_created_job();
            }
            vec![
                (status, response),
                ("2XX", json_response(fields, OTHER_SUCCESS)),
            ]
        }
        Success::Generated(doc) => vec![("200", json_response(fields, doc))],
        Success::Cached(doc) => conditional(fields.with(&["ETag", "Age", "Cache-Status"]), doc),
        Success::Archived(doc) => conditional(fields.with(&["ETag"]), doc),
        Success::Accepted(doc) => vec![("202", json_response(fields, doc))],
        Success::Streamed => {
            let fields = fields.with_optional(&RATE_LIMIT);
            vec![
                (
                    "200",
                    streams::events(operation, &fields.clone().with(&streams::HEADERS)),
                ),
                ("204", empty(NO_MORE_EVENTS, &fields)),
            ]
        }
        Success::ListStreamed => {
            let fields = fields.with(&streams::HEADERS).with_optional(&RATE_LIMIT);
            vec![("200", streams::list_events(operation, &fields))]
        }
        Success::Exported => {
            let fields = fields.with(&["Content-Disposition"]);
            let fields = fields.with_optional(details.response_fields);
            vec![("200", exports::rows(operation, &fields))]
        }
        Success::Empty(doc) => vec![("204", empty(doc, &Fields::common()))],
    };
    successes
        .into_iter()
        .map(|(status, response)| (status.to_owned(), response))
        .collect()
}

const OTHER_SUCCESS: &str = "Another 2xx response of Mintlify, with its own status.";
const NO_MORE_EVENTS: &str = "The job has ended or is no longer polled, and you have received its last \
    event. Do not reconnect.";
const NOT_MODIFIED: &str = "You have the current rows (`If-None-Match`).";

fn empty(doc: &str, fields: &Fields) -> Value {
    json!({
        "description": doc,
        "headers": fields.describe(),
    })
}
