//! Generates TypeScript types: the operations' parameters and results, the lists, and the names of
//! rules and problems.

use std::fmt::Write as _;

use quillgate::declaration::{Declaration, Pagination, Parameter, ParameterKind};
use quillgate::schema::{JsonType, Object, OpenEnum, Union};
use quillgate::{Operation, Rule};
use quillgate_worker::http::problem_kind::ProblemKind;

use crate::text::{EVENT_STREAMS, of_package};
use quillgate::documentation::join_lines;
use quillgate::documentation::named_types;

/// Returns the module `pkg/dist/types.d.ts`.
pub fn typescript() -> String {
    let mut module = String::from("// Generated from the Rust types: do not edit.\n");
    let types = named_types();
    for named in types.enums {
        module.push_str(&open_enum(named));
    }
    for object in types.objects {
        module.push_str(&interface(object));
    }
    module.push_str(UNKNOWN_STRING);
    for union in types.unions {
        module.push_str(&union_type(union));
    }
    for operation in of_package() {
        module.push_str(&parameters(operation));
    }
    module.push_str(&operations());
    module.push_str(&lists());
    module.push_str(&rules());
    module.push_str(&problem_codes());
    module
}

/// Returns the name of an operation's parameter type. `agentJobs.create` becomes
/// `AgentJobsCreateParams`.
fn parameters_name(operation: &Declaration) -> String {
    let mut name = String::new();
    for part in operation.name.split('.') {
        let (first, rest) = part.split_at(1);
        name.push_str(&first.to_ascii_uppercase());
        name.push_str(rest);
    }
    name + "Params"
}

fn open_enum(named: &OpenEnum) -> String {
    format!(
        "\n{}export type {} = {} | (string & {{}});\n",
        doc("", named.doc),
        named.name,
        literals(named.known)
    )
}

fn interface(object: &Object) -> String {
    let mut text = format!(
        "\n{}export interface {} {{\n",
        doc("", object.doc),
        object.name
    );
    for field in object.fields {
        text.push_str(&doc("  ", field.doc));
        let _ = writeln!(text, "  {}: {};", field.name, type_of(&field.kind));
    }
    text + "}\n"
}

fn union_type(union: &Union) -> String {
    let kinds = union.variants.iter().map(|(_, kind)| kind);
    let mut names: Vec<_> = kinds
        .chain([&union.otherwise])
        .map(JsonType::name)
        .collect();
    let (name, tag) = (union.name, union.tag);
    let unknown = format!("Unknown{name}");
    names.push(&unknown);
    format!(
        "\n{}export interface {unknown} extends Omit<{}, {tag:?}> {{\n{}  {tag}: UnknownString | null;\n}}\n\
         \n{}export type {name} = {};\n",
        doc(
            "",
            &[&format!(
                " A `{name}` with a `{tag}` that this version of the package does not know."
            )]
        ),
        union.otherwise.name(),
        doc(
            "  ",
            &[" A string that no other variant has, or `null` if it is missing."]
        ),
        doc("", union.doc),
        names.join(" | ")
    )
}

/// Declares the type of a tag's unknown values. TypeScript cannot narrow a union that contains
/// `string`.
const UNKNOWN_STRING: &str = "
/** A string that this version of the package does not know. `String(value)` converts it. */
export interface UnknownString {
  /** Exists in the types only. */
  readonly __unknown: never;
}
";

/// Returns a union of string literals.
fn literals(known: &[&str]) -> String {
    let known: Vec<_> = known.iter().map(|text| format!("{text:?}")).collect();
    known.join(" | ")
}

fn type_of(kind: &JsonType) -> String {
    match kind {
        JsonType::String => "string".into(),
        JsonType::SafeInteger | JsonType::Percentage => "number".into(),
        JsonType::Boolean => "boolean".into(),
        JsonType::Empty => "void".into(),
        JsonType::OpenEnum(named) => named.name.into(),
        JsonType::Object(object) => object.name.into(),
        JsonType::Union(union) => union.name.into(),
        JsonType::List(inner) => format!("{}[]", type_of(inner)),
        // A union's variant for unknown tags also covers a missing tag.
        JsonType::Tag(known) | JsonType::Nullable(JsonType::Tag(known)) => literals(known),
        JsonType::Nullable(inner) => format!("{} | null", type_of(inner)),
    }
}

fn parameters(operation: Operation) -> String {
    let (declared, documented) = (operation.declaration(), operation.documentation());
    let summary = join_lines(documented.summary);
    let what = format!(" Parameters of `{}`. {summary}", declared.name);
    let name = parameters_name(declared);
    let mut text = format!("\n{}export interface {name} {{\n", doc("", &[&what]));
    let docs = documented.parameters.iter();
    for (parameter, sentence) in declared.parameters.iter().zip(docs) {
        text.push_str(&parameter_doc(parameter, sentence));
        let (optional, absent) = if parameter.is_required {
            ("", "")
        } else {
            ("?", " | undefined")
        };
        let kind = parameter_type(parameter.kind);
        let _ = writeln!(text, "  {}{optional}: {kind}{absent};", parameter.name);
    }
    text + "}\n"
}

fn parameter_type(kind: ParameterKind) -> String {
    match kind {
        ParameterKind::Text | ParameterKind::Id | ParameterKind::Ulid | ParameterKind::Date => {
            "string".to_owned()
        }
        ParameterKind::Integer { .. } | ParameterKind::Page => "number".to_owned(),
        ParameterKind::OneOf(known) => literals(known),
        ParameterKind::ListOf(known) => {
            let first = literals(known);
            format!("{first} | `${{{first}}},${{string}}`")
        }
    }
}

fn parameter_doc(parameter: &Parameter, sentence: &str) -> String {
    let mut lines = vec![format!(" {sentence}")];
    if let ParameterKind::Integer { rule, default } = parameter.kind {
        lines.push(format!(" An integer from {} to {}.", rule.min, rule.max));
        lines.push(format!(" @default {default}"));
    }
    doc("  ", &lines.iter().map(String::as_str).collect::<Vec<_>>())
}

fn operations() -> String {
    let mut text = format!(
        "\n{}export interface Operations {{\n",
        doc(
            "",
            &[" Every operation's parameters and result, by its name."]
        )
    );
    for operation in of_package() {
        let declared = operation.declaration();
        let summary = join_lines(operation.documentation().summary);
        let scope = declared.scope.as_str();
        let _ = writeln!(
            text,
            "  {}  {:?}: {{ params: {}; result: {} }};",
            doc("", &[&format!(" {summary} Needs the scope `{scope}`.")]),
            declared.name,
            parameters_name(declared),
            type_of(operation.result()),
        );
    }
    text.push_str("}\n");
    let streams = EVENT_STREAMS.map(|stream| stream.declaration().name);
    let _ = writeln!(
        text,
        "\n{}export type OperationName = keyof Operations | {} | \"request\";",
        doc(
            "",
            &[" The name of an operation or of an event stream; `request` for other requests."]
        ),
        literals(&streams)
    );
    text
}

/// Returns the interface `Lists`: the operations that return one page of a list.
fn lists() -> String {
    let text = " The operations that return one page of a list, each with the types of its rows and positions.";
    let mut text = format!("\n{}export interface Lists {{\n", doc("", &[text]));
    for operation in of_package() {
        let declared = operation.declaration();
        let row = declared
            .pagination
            .rows()
            .and_then(|rows| row_type(operation, rows));
        let Some(row) = row else { continue };
        let (offset, position) = match declared.pagination {
            Pagination::Offset { .. } => (" offset: number;", position_type(declared)),
            _ => ("", parameters_name(declared)),
        };
        let _ = writeln!(
            text,
            "  {:?}: {{ row: {row};{offset} position: {position} }};",
            declared.name
        );
    }
    text + "}\n"
}

fn row_type(operation: Operation, rows: &str) -> Option<String> {
    let JsonType::Object(page) = operation.result() else {
        return None;
    };
    let rows = page.fields.iter().find(|field| field.name == rows)?;
    match &rows.kind {
        JsonType::List(row) => Some(type_of(row)),
        _ => None,
    }
}

/// Returns the type of a position in a list by offset: the list's parameters without `page`, and
/// with `offset` required.
fn position_type(declared: &Declaration) -> String {
    let mut members = String::new();
    for parameter in declared.parameters {
        let kind = parameter_type(parameter.kind);
        if parameter.kind != ParameterKind::Page {
            let _ = match parameter.name {
                "offset" => write!(members, "offset: {kind}; "),
                name => write!(members, "{name}?: {kind} | undefined; "),
            };
        }
    }
    format!("{{ {members}}}")
}

fn rules() -> String {
    let names: Vec<_> = Rule::ALL
        .iter()
        .map(|rule| format!("  | {:?}", rule.name()))
        .collect();
    format!(
        "\n{}export type Rule =\n{};\n",
        doc(
            "",
            &[" The stable names of the rules that a value can break."]
        ),
        names.join("\n")
    )
}

fn problem_codes() -> String {
    let codes: Vec<_> = ProblemKind::ALL
        .iter()
        .map(|kind| format!("  | {:?}", kind.type_uri()))
        .collect();
    format!(
        "\n{}export type ProblemCode =\n{};\n",
        doc("", &[" The `code` of an error that a gateway returns."]),
        codes.join("\n")
    )
}

fn doc(indent: &str, lines: &[&str]) -> String {
    if let [line] = lines {
        return format!("{indent}/**{line} */\n");
    }
    let mut text = format!("{indent}/**\n");
    for line in lines {
        let _ = writeln!(text, "{indent} *{line}");
    }
    text + indent + " */\n"
}
