//! TypeScript types of the operations' parameters and results.

use std::fmt::Write as _;

use quillgate::declaration::{Declaration, Parameter, ParameterKind};
use quillgate::schema::{Kind, Object, OpenEnum};
use quillgate::{Operation, Rule};

use crate::reachable::reachable;
use crate::text::{join, of_package};

/// The module `dist/types.d.ts`.
pub fn typescript() -> String {
    let mut module = String::from("// Generated from the Rust types: do not edit.\n");
    let types = reachable();
    for named in types.enums {
        module.push_str(&open_enum(named));
    }
    for object in types.objects {
        module.push_str(&interface(object));
    }
    for operation in of_package() {
        module.push_str(&parameters(operation));
    }
    module.push_str(&operations());
    module.push_str(&rules());
    module
}

/// `agentJobs.create` → `AgentJobsCreateParams`.
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
    let known: Vec<_> = named
        .known
        .iter()
        .map(|value| format!("{value:?}"))
        .collect();
    format!(
        "\n{}export type {} = {} | (string & {{}});\n",
        doc("", named.doc),
        named.name,
        known.join(" | ")
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

fn type_of(kind: &Kind) -> String {
    match kind {
        Kind::Text => "string".into(),
        Kind::Count => "number".into(),
        Kind::Flag => "boolean".into(),
        Kind::Nothing => "undefined".into(),
        Kind::OpenEnum(named) => named.name.into(),
        Kind::Object(object) => object.name.into(),
        Kind::List(inner) => format!("{}[]", type_of(inner)),
        Kind::Nullable(inner) => format!("{} | null", type_of(inner)),
    }
}

fn parameters(operation: Operation) -> String {
    let (declared, documented) = (operation.declaration(), operation.documentation());
    let summary = join(documented.summary);
    let what = format!(" Parameters of `{}`. {summary}", declared.name);
    let name = parameters_name(declared);
    let mut text = format!("\n{}export interface {name} {{\n", doc("", &[&what]));
    let docs = documented.parameters.iter().copied().flatten();
    for (parameter, sentence) in declared.parameters().zip(docs) {
        text.push_str(&parameter_doc(parameter, sentence));
        let (optional, absent) = if parameter.is_required() {
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
        ParameterKind::OneOf(known) => {
            let known: Vec<_> = known.iter().map(|text| format!("{text:?}")).collect();
            known.join(" | ")
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
        let summary = join(operation.documentation().summary);
        let scope = declared.scope.as_str();
        let _ = writeln!(
            text,
            "  {}  {:?}: {{ params: {}; result: {} }};",
            doc("", &[&format!(" {summary} Needs the scope `{scope}`.")]),
            declared.name,
            parameters_name(declared),
            declared.result,
        );
    }
    text + "}\n"
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
