//! Builds the JSON Schemas of parameters and of the types that the core declares.

use quillgate::declaration::{Parameter, ParameterKind};
use quillgate::project::MAX_ID_BYTES;
use quillgate::schema::{JsonType, Object, OpenEnum, Union};
use quillgate::text::MAX_SAFE_INTEGER;
use serde_json::{Map, Value, json};

use super::{patterns, schema};
use quillgate::documentation::join_lines;
use quillgate::documentation::named_types;

/// Returns the schemas of all named types in results. They allow additional properties, because the
/// upstream may add properties and the gateway forwards them.
pub fn named() -> Map<String, Value> {
    let types = named_types();
    let enums = types
        .enums
        .into_iter()
        .map(|named| (named.name.into(), open_enum(named)));
    let objects = types
        .objects
        .into_iter()
        .map(|named| (named.name.into(), object(named)));
    let unions = types
        .unions
        .into_iter()
        .map(|named| (named.name.into(), union(named)));
    enums.chain(objects).chain(unions).collect()
}

fn open_enum(named: &OpenEnum) -> Value {
    let mut text = open_text(named.known);
    text["description"] = join_lines(named.doc).into();
    text
}

fn union(union: &Union) -> Value {
    let kinds = union.variants.iter().map(|(_, kind)| kind);
    let kinds: Vec<_> = kinds.chain([&union.otherwise]).map(of).collect();
    json!({ "description": join_lines(union.doc), "anyOf": kinds })
}

/// Returns the schema of a string that lists its known values but allows others.
fn open_text(known: &[&str]) -> Value {
    json!({ "type": "string", "anyOf": [{ "enum": known }, { "description": "Any other text." }] })
}

fn object(object: &Object) -> Value {
    let described = |kind, doc| {
        let mut schema = of(kind);
        schema["description"] = join_lines(doc).into();
        schema
    };
    let members = object.fields.iter();
    let properties: Map<_, _> = members
        .map(|field| (field.name.to_owned(), described(&field.kind, field.doc)))
        .collect();
    let needed = object
        .fields
        .iter()
        .filter(|field| !matches!(field.kind, JsonType::Nullable(_)));
    let required: Vec<_> = needed.map(|field| field.name).collect();
    let mut schema = json!({
        "type": "object",
        "description": join_lines(object.doc),
        "properties": properties,
    });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

/// Returns the schema of a type. Named types become references.
pub fn of(kind: &JsonType) -> Value {
    match kind {
        JsonType::String => json!({ "type": "string" }),
        JsonType::SafeInteger => {
            json!({ "type": "integer", "minimum": 0, "maximum": MAX_SAFE_INTEGER })
        }
        JsonType::Tag(known) => open_text(known),
        JsonType::Percentage => json!({ "type": "number" }),
        JsonType::Boolean => json!({ "type": "boolean" }),
        JsonType::Empty => json!({ "not": {} }),
        JsonType::OpenEnum(_) | JsonType::Object(_) | JsonType::Union(_) => schema(kind.name()),
        JsonType::List(inner) => json!({ "type": "array", "items": of(inner) }),
        JsonType::Nullable(inner) => match (inner, of(inner)) {
            (JsonType::OpenEnum(_) | JsonType::Object(_) | JsonType::Union(_), named) => {
                json!({ "anyOf": [named, { "type": "null" }] })
            }
            (_, mut plain) => {
                plain["type"] = json!([plain["type"], "null"]);
                plain
            }
        },
    }
}

/// Returns the JSON Schema of a parameter's value, without the parameter's name and description.
pub fn of_parameter(parameter: &Parameter) -> Value {
    match parameter.kind {
        ParameterKind::Integer { rule, default } => json!({
            "type": "integer", "minimum": rule.min, "maximum": rule.max, "default": default,
        }),
        ParameterKind::Page => {
            json!({ "type": "integer", "minimum": 1, "maximum": MAX_SAFE_INTEGER })
        }
        ParameterKind::Date => json!({ "type": "string", "pattern": patterns::DATE }),
        ParameterKind::Id => path_segment(),
        ParameterKind::Ulid => json!({ "type": "string", "pattern": patterns::ULID }),
        ParameterKind::OneOf(known) => json!({ "type": "string", "enum": known }),
        ParameterKind::ListOf(known) => {
            json!({ "type": "string", "pattern": patterns::list_of(known) })
        }
        ParameterKind::Text => json!({ "type": "string", "minLength": 1 }),
    }
}

/// Returns the schema of an id in a path. The maximum length is exact for ASCII only, because
/// `maxLength` counts characters and the gateway counts bytes.
pub fn path_segment() -> Value {
    json!({
        "type": "string",
        "minLength": 1,
        "maxLength": MAX_ID_BYTES,
        "pattern": patterns::PATH_SEGMENT,
    })
}
