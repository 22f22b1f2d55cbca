//! Generates the gateway's `OpenAPI` 3.1 document. `openapi.yaml` contains what people write. This
//! crate expands its shorthands and merges the tables of the core and the gateway into it.
//!
//! Request schemas are as strict as the gateway's validation, as far as a schema can express the
//! rules; `patterns` documents exceptions. Schemas of the core's types allow additional properties,
//! because Mintlify may add some.

mod operations;
mod patterns;
mod problems;
mod schemas;
mod shorthands;
#[cfg(test)]
mod tests;
mod variables;

use quillgate::Operation;
use serde_json::{Map, Value, json};

type JsonObject = Map<String, Value>;

/// Returns the whole document.
///
/// # Panics
///
/// If `openapi.yaml` is invalid or lacks a declared operation.
#[must_use]
pub fn description() -> Value {
    let mut document: Value = serde_saphyr::from_str(include_str!("../openapi.yaml"))
        .unwrap_or_else(|error| panic!("openapi.yaml: {error}"));
    let project = document["x-shared"]["projectId"].clone();
    for operation in Operation::ALL.iter().copied() {
        let declared = operation.declaration();
        let method = declared.method.as_str().to_ascii_lowercase();
        let described = &mut document["paths"][declared.path][method];
        operations::complete(operation, described, &project);
    }
    let groups = document["x-problem-groups"].clone();
    for item in object(&mut document["paths"]).values_mut() {
        shorthands::expand(object(item), &groups);
    }
    let mut variables = variables::from_tables();
    variables.extend(object(&mut document["x-texts"]).clone());
    variables::substitute(&mut document, &variables);

    let headers = shorthands::headers(&document);
    let components = &mut document["components"];
    components["headers"] = headers.into();
    let schemas = object(&mut components["schemas"]);
    schemas.extend(schemas::named());
    schemas.extend(problems::schemas());
    object(&mut document).retain(|name, _| !name.starts_with("x-"));
    document
}

fn object(value: &mut Value) -> &mut JsonObject {
    value.as_object_mut().expect("an object in openapi.yaml")
}

/// Returns a Reference Object for a component.
fn reference(section: &str, name: &str) -> Value {
    json!({ "$ref": format!("#/components/{section}/{name}") })
}

fn schema(name: &str) -> Value {
    reference("schemas", name)
}
