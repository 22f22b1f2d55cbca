//! Generates the JavaScript decoders. Each type gets straight-line code, which JITs optimize
//! like a hand-written check. Rows are checked and copied in one pass and never cross into wasm.

use std::fmt::Write as _;

use quillgate::declaration::{Pagination, Repeat};
use quillgate::schema::{JsonType, Object, Union};

use crate::text::{EVENT_STREAMS, of_package};
use quillgate::documentation::named_types;

const PRELUDE: &str = r#"// @ts-nocheck
/** Decoders of the operations' results. Generated from the Rust types: do not edit. */

/** Thrown for a body that does not match its type. `path` leads to the invalid value. */
export class Mismatch {
  path = "";
  reason: string;
  constructor(reason: string) {
    this.reason = reason;
  }
}

function found(value) {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  return { string: "a string", number: "a number", boolean: "a boolean" }[typeof value] ?? "an object";
}

function refuse(value, rule) {
  throw new Mismatch(`must be ${rule}, found ${found(value)}`);
}

function text(value) {
  return typeof value === "string" ? value : refuse(value, "a string");
}

function textOrNull(value) {
  return value == null ? null : text(value);
}

function number(value) {
  return Number.isFinite(value) ? value : refuse(value, "a number");
}

function flag(value) {
  return typeof value === "boolean" ? value : refuse(value, "true or false");
}

function count(value) {
  return Number.isSafeInteger(value) && value >= 0
    ? value
    : refuse(value, "an integer from 0 to 9007199254740991");
}

function countOrNull(value) {
  return value == null ? null : count(value);
}

/** Decodes a response without content. */
function nothing() {}

function object(value) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) refuse(value, "an object");
}

function list(value, element) {
  if (!Array.isArray(value)) refuse(value, "an array");
  const { length } = value;
  const decoded = new Array(length);
  for (let at = 0; at < length; at++) decoded[at] = element(value[at]);
  return decoded;
}
"#;

/// Returns the module `pkg/src/generated/decoders.ts`.
pub fn typescript() -> String {
    let mut module = String::from(PRELUDE);
    let types = named_types();
    for object in &types.objects {
        if decoder_name(&JsonType::Object(object)) == object.name {
            module.push('\n');
            module.push_str(&decoder(object));
        }
    }
    for union in types.unions {
        module.push('\n');
        module.push_str(&union_decoder(union));
    }
    module.push_str(
        "\n/** The decoder of each operation's result, by the operation's name. Checks a parsed body and copies the fields of its type. */\n\
         const DECODERS: Record<string, (body: unknown) => object> = {\n",
    );
    for operation in of_package() {
        let name = operation.declaration().name;
        let result = decoder_name(operation.result());
        let _ = writeln!(module, "  \"{name}\": {result},");
    }
    for streamed in EVENT_STREAMS {
        let name = streamed.declaration().name;
        let event = decoder_name(streamed.result());
        let _ = writeln!(module, "  \"{name}\": {event},");
    }
    module.push_str(
        "};\n\n/** The property with the rows of a page, by the name of the list's operation. */\n\
         export const ROWS: Record<string, string> = {\n",
    );
    for declared in of_package().map(quillgate::Operation::declaration) {
        if let Some(rows) = declared.pagination.rows() {
            let _ = writeln!(module, "  \"{}\": \"{rows}\",", declared.name);
        }
    }
    module.push_str(
        "};\n\n/** The property with the time of a row, by the name of the list's operation. Other lists have no events. */\n\
         export const TIMES: Record<string, string> = {\n",
    );
    for declared in of_package().map(quillgate::Operation::declaration) {
        if let Pagination::Cursor {
            time: Some(time), ..
        } = declared.pagination
        {
            let _ = writeln!(module, "  \"{}\": \"{time}\",", declared.name);
        }
    }
    module.push_str(
        "};\n\n/** Operations whose responses have no content. */\n\
         export const WITHOUT_CONTENT: readonly string[] = [\n",
    );
    for operation in of_package().filter(|own| *own.result() == JsonType::Empty) {
        let _ = writeln!(module, "  \"{}\",", operation.declaration().name);
    }
    module.push_str(
        "];\n\n/** Operations whose requests must not be repeated without an idempotency key. */\n\
         export const KEYED: readonly string[] = [\n",
    );
    let is_keyed = |own: &quillgate::Operation| own.declaration().repeat == Repeat::Keyed;
    for operation in of_package().filter(is_keyed) {
        let _ = writeln!(module, "  \"{}\",", operation.declaration().name);
    }
    module.push_str("];\n");
    module.push_str(EPILOGUE);
    module
}

const EPILOGUE: &str = r#"
/**
 * Checks a parsed body, and copies the fields of the result's type.
 *
 * After a mismatch, the decoder runs again on a proxy, which records the path of the last property
 * that it reads. Tracking the path on every call would make decoders larger and slower.
 *
 * @throws {Mismatch}
 */
export function decode(operation: string, body: unknown): object {
  const decoder = DECODERS[operation];
  try {
    return decoder(body);
  } catch (mismatch) {
    const trace = (value, path) =>
      Object(value) === value ? new Proxy(value, { get: follow(path) }) : value;
    const follow = (path) => (target, name) => {
      const step = Array.isArray(target) ? `[${name}]` : path === "" ? name : `.${name}`;
      if (name !== "length" || !Array.isArray(target)) mismatch.path = path + step;
      return trace(target[name], mismatch.path);
    };
    try {
      decoder(trace(body, ""));
    } catch {}
    throw mismatch;
  }
}
"#;

/// Returns the name of a type's decoder. Objects with the same fields share a decoder, which
/// is named after the first of them.
fn decoder_name(kind: &JsonType) -> &'static str {
    let JsonType::Object(object) = kind else {
        return if *kind == JsonType::Empty {
            "nothing"
        } else {
            kind.name()
        };
    };
    let members = |object: &Object| -> Vec<_> {
        let fields = object.fields.iter();
        fields.map(|field| (field.name, field.kind)).collect()
    };
    let objects = named_types().objects;
    let mut same = objects
        .iter()
        .filter(|other| members(other) == members(object));
    same.next().map_or(object.name, |first| first.name)
}

fn decoder(object: &Object) -> String {
    let mut function = format!(
        "function {}(value) {{\n  object(value);\n  return {{\n",
        object.name
    );
    for field in object.fields {
        let name = field.name;
        let member = expression(&field.kind, &format!("value.{name}"));
        let _ = writeln!(function, "    {name}: {member},");
    }
    function.push_str("  };\n}\n");
    function
}

fn union_decoder(union: &Union) -> String {
    let Union { name, tag, .. } = union;
    let mut function =
        format!("function {name}(value) {{\n  object(value);\n  switch (value.{tag}) {{\n");
    for (value, kind) in union.variants {
        let _ = writeln!(
            function,
            "    case \"{value}\":\n      return {}(value);",
            decoder_name(kind)
        );
    }
    let otherwise = decoder_name(&union.otherwise);
    let _ = writeln!(
        function,
        "    default:\n      return {otherwise}(value);\n  }}\n}}"
    );
    function
}

fn expression(kind: &JsonType, value: &str) -> String {
    match kind {
        JsonType::String | JsonType::OpenEnum(_) | JsonType::Tag(_) => format!("text({value})"),
        JsonType::Percentage => format!("number({value})"),
        JsonType::SafeInteger => format!("count({value})"),
        JsonType::Boolean => format!("flag({value})"),
        JsonType::Empty => "undefined".to_owned(),
        JsonType::Object(_) | JsonType::Union(_) => format!("{}({value})", decoder_name(kind)),
        JsonType::List(inner @ (JsonType::Object(_) | JsonType::Union(_))) => {
            format!("list({value}, {})", decoder_name(inner))
        }
        JsonType::List(inner) => {
            format!("list({value}, (value) => {})", expression(inner, "value"))
        }
        JsonType::Nullable(JsonType::String | JsonType::OpenEnum(_)) => {
            format!("textOrNull({value})")
        }
        JsonType::Nullable(JsonType::SafeInteger) => format!("countOrNull({value})"),
        JsonType::Nullable(inner) => {
            format!("{value} == null ? null : {}", expression(inner, value))
        }
    }
}
