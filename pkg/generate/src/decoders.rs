//! Decoders in JavaScript: straight-line code for each type, which a host's JIT
//! compiles as it would a hand-written check. Rows are checked and copied in one
//! pass and never cross into wasm.

use std::fmt::Write as _;

use quillgate::schema::{Kind, Object, Union};

use crate::reachable::reachable;
use crate::text::of_package;

const PRELUDE: &str = r#"// @ts-nocheck
/** Decoders of what operations promise. Generated from the Rust types: do not edit. */

const MAX_COUNT = Number.MAX_SAFE_INTEGER;

function found(value) {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  return { string: "text", number: "a number", boolean: "a boolean" }[typeof value] ?? "an object";
}

/** A refusal: where in the JSON, from the inside out, and what is wrong there. */
function refuse(value, rule) {
  throw { where: "", what: `must be ${rule}, found ${found(value)}` };
}

/** Puts `step` before the place that a refusal names. */
function under(step, refusal) {
  const { where } = refusal;
  refusal.where = where === "" || where[0] === "[" ? step + where : `${step}.${where}`;
  return refusal;
}

function text(value) {
  return typeof value === "string" ? value : refuse(value, "text");
}

function number(value) {
  return Number.isFinite(value) ? value : refuse(value, "a number");
}

function flag(value) {
  return typeof value === "boolean" ? value : refuse(value, "true or false");
}

function count(value) {
  return Number.isInteger(value) && value >= 0 && value <= MAX_COUNT
    ? value
    : refuse(value, "an integer from 0 to 9007199254740991");
}

function object(value) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) refuse(value, "an object");
}

function list(value, element) {
  if (!Array.isArray(value)) refuse(value, "an array");
  const { length } = value;
  const decoded = new Array(length);
  let at = 0;
  try {
    for (; at < length; at++) decoded[at] = element(value[at]);
  } catch (refusal) {
    throw under(`[${at}]`, refusal);
  }
  return decoded;
}
"#;

/// The module `pkg/src/generated/decode.ts`.
pub fn typescript() -> String {
    let mut module = String::from(PRELUDE);
    let types = reachable();
    for object in &types.objects {
        module.push('\n');
        module.push_str(&decoder(object));
    }
    for union in types.unions {
        module.push('\n');
        module.push_str(&union_decoder(union));
    }
    module.push_str(
        "\n/** Checks a parsed body, and copies what the type of an operation's result knows of it. */\n\
         export const DECODERS: Record<string, (body: unknown) => object> = {\n",
    );
    let operations: Vec<_> = of_package().map(quillgate::Operation::declaration).collect();
    for declared in &operations {
        let _ = writeln!(module, "  \"{}\": {},", declared.name, declared.result);
    }
    module.push_str(
        "};\n\n/** The member that holds the rows, of operations whose result is a page of a list. */\n\
         export const ROWS: Record<string, string> = {\n",
    );
    for declared in operations {
        if let Some(rows) = declared.pagination.rows() {
            let _ = writeln!(module, "  \"{}\": \"{rows}\",", declared.name);
        }
    }
    module.push_str("};\n");
    module
}

fn decoder(object: &Object) -> String {
    let mut function = format!(
        "function {}(value) {{\n  object(value);\n  let at;\n  try {{\n    return {{\n",
        object.name
    );
    for field in object.fields {
        let name = field.name;
        let member = format!("value.{name}");
        let _ = writeln!(
            function,
            "      {name}: ((at = \"{name}\"), {}),",
            expression(&field.kind, &member)
        );
    }
    function.push_str("    };\n  } catch (refusal) {\n    throw under(at, refusal);\n  }\n}\n");
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
            kind.name()
        );
    }
    let otherwise = union.otherwise.name();
    let _ = writeln!(
        function,
        "    default:\n      return {otherwise}(value);\n  }}\n}}"
    );
    function
}

fn expression(kind: &Kind, value: &str) -> String {
    match kind {
        Kind::Text | Kind::OpenEnum(_) | Kind::Tag(_) => format!("text({value})"),
        Kind::Number => format!("number({value})"),
        Kind::Count => format!("count({value})"),
        Kind::Flag => format!("flag({value})"),
        Kind::Nothing => "undefined".to_owned(),
        Kind::Object(_) | Kind::Union(_) => format!("{}({value})", kind.name()),
        Kind::List(inner @ (Kind::Object(_) | Kind::Union(_))) => {
            format!("list({value}, {})", inner.name())
        }
        Kind::List(inner) => format!("list({value}, (value) => {})", expression(inner, "value")),
        Kind::Nullable(inner) => format!("{value} == null ? null : {}", expression(inner, value)),
    }
}
