//! Generates `docs/reference/operations.md`, the reference of all operations.

use std::fmt::Write as _;

use quillgate::columns::columns;
use quillgate::declaration::{Declaration, Pagination, Parameter, ParameterIn, ParameterKind};
use quillgate::schema::{Field, JsonType, Object, Union};
use quillgate::{IntegerRule, Operation, RateLimitPolicy};

use crate::operations::name_place;
use crate::text::of_package;
use quillgate::documentation::join_lines;

const HEAD: &str = "\
<!-- Generated from the declarations in src/: do not edit.
     cargo run -p quillgate-generate -- reference docs/reference/operations.md -->
# Operations

All operations of the package and the gateway. [Mintlify's API](../mintlify/README.md) has the facts behind them.
The gateway's OpenAPI description, `GET /openapi.json`, also covers its header fields and errors.

The path parameter `projectId` comes from the client's options.
The gateway requires an access token with the operation's scope, and counts the request against the
operation's budget. A server may omit a property that can be `null`; the package then returns `null`.
";

/// Returns the content of `docs/reference/operations.md`.
pub fn markdown() -> String {
    let mut text = String::from(HEAD);
    text.push_str("\n| operation | what it does |\n| --- | --- |\n");
    for operation in Operation::ALL.iter().copied() {
        let name = operation.declaration().name;
        let summary = join_lines(operation.documentation().summary);
        let _ = writeln!(text, "| [`{name}`](#{}) | {summary} |", anchor(name));
    }
    let mut shown = Vec::new();
    for operation in Operation::ALL.iter().copied() {
        text.push('\n');
        text.push_str(&section(operation, &mut shown));
    }
    text
}

/// Returns the anchor of the heading with an operation's name.
fn anchor(name: &str) -> String {
    name.replace('.', "").to_ascii_lowercase()
}

/// Returns the section of an operation. `shown` contains the result types described so far, each
/// with the name of the operation that describes it.
fn section(operation: Operation, shown: &mut Vec<(&'static str, &'static str)>) -> String {
    let (declared, documented) = (operation.declaration(), operation.documentation());
    let (name, summary) = (declared.name, join_lines(documented.summary));
    let mut text = format!("## {name}\n\n{summary}\n\n");
    let request = format!("`{} {}`", declared.method.as_str(), declared.path);
    let mut rows = vec![
        ("request", request),
        ("package", describe_call(operation)),
        ("scope", format!("`{}`", declared.scope.as_str())),
        ("budget", describe_budget(operation)),
        ("pages", describe_pages(operation).to_owned()),
    ];
    rows.push(match documented.link {
        Some(link) => ("Mintlify", format!("<{link}>")),
        None => (
            "Mintlify",
            "none: only the gateway has this operation".to_owned(),
        ),
    });
    text.push_str("| | |\n| --- | --- |\n");
    for (what, cell) in rows {
        let _ = writeln!(text, "| {what} | {cell} |");
    }
    text.push_str(&parameters(operation));
    text.push_str(&result(operation, shown));
    text
}

/// Describes the call in the package. Path parameters are positional arguments, and the others are
/// properties of one object.
fn describe_call(operation: Operation) -> String {
    let name = operation.declaration().name;
    if let Some(group) = name.strip_suffix(".events") {
        return format!("used by `client.{group}.watch(id)` and `client.{group}.wait(id)`");
    }
    if let Some(group) = name.strip_suffix(".allEvents") {
        return format!("used by `client.{group}.watchAll()`");
    }
    if let Some(list) = operation.exported() {
        let name = list.declaration().name;
        return format!(
            "none; `client.{name}(params).export({{ format }})` writes the same records"
        );
    }
    if !of_package().any(|own| own == operation) {
        return "none".to_owned();
    }
    let own = operation.declaration().parameters.iter();
    let in_path = own.clone().filter(|own| own.place == ParameterIn::Path);
    let mut arguments: Vec<_> = in_path.map(|own| own.name).collect();
    if own.clone().any(|own| own.place != ParameterIn::Path) {
        arguments.push("params");
    }
    format!("`client.{name}({})`", arguments.join(", "))
}

fn describe_budget(operation: Operation) -> String {
    let Some(policy) = operation.declaration().policy else {
        return "none".to_owned();
    };
    let counted = match policy {
        RateLimitPolicy::CreateJob => "jobs created in a project",
        RateLimitPolicy::SendMessage => "follow-ups sent in a project",
        RateLimitPolicy::Analytics => "all requests for analytics of the organization",
        RateLimitPolicy::ReadJobs => {
            "requests of one caller that read jobs of a project; the gateway's own"
        }
        RateLimitPolicy::CreateDeployment => {
            "deployments and runs of automations of the organization, in 10 seconds"
        }
        RateLimitPolicy::CreatePreview => "previews of the organization, in a minute",
        RateLimitPolicy::ReadDeployments if operation == Operation::GetDeployment => {
            "requests of one caller that read deployments of any project by id; the gateway's own"
        }
        RateLimitPolicy::ReadDeployments => {
            "requests of one caller that read deployments of a project; the gateway's own"
        }
    };
    format!("`{}`: {counted}", policy.as_str())
}

fn describe_pages(operation: Operation) -> &'static str {
    if operation.exported().is_some() {
        return "all pages in one response";
    }
    match operation.declaration().pagination {
        Pagination::None => "none",
        Pagination::Offset { .. } => {
            "by `offset`: the next page begins `limit` rows later; the list ends when `hasMore` is `false`"
        }
        Pagination::Cursor { .. } => {
            "by `cursor`: the `nextCursor` of the previous page; the list ends when it is absent or `null`, or `hasMore` is `false`"
        }
    }
}

fn parameters(operation: Operation) -> String {
    let (declared, documented) = (operation.declaration(), operation.documentation());
    if declared.parameters.is_empty() {
        return "\nNo parameters.\n".to_owned();
    }
    let mut text = String::from(
        "\n| parameter | in | type | default | meaning |\n| --- | --- | --- | --- | --- |\n",
    );
    for (parameter, doc) in declared.parameters.iter().zip(documented.parameters) {
        let Parameter {
            name, place, kind, ..
        } = *parameter;
        let (place, rule) = (name_place(place), describe_parameter(kind));
        let default = describe_default(parameter);
        let _ = writeln!(text, "| `{name}` | {place} | {rule} | {default} | {doc} |");
    }
    text
}

fn describe_parameter(kind: ParameterKind) -> String {
    match kind {
        ParameterKind::Text => "a string of at least one character".to_owned(),
        ParameterKind::Id => "a string of at least one character, not `.` or `..`".to_owned(),
        ParameterKind::Ulid => "a ULID".to_owned(),
        ParameterKind::Date => "`YYYY-MM-DD` or an ISO 8601 date-time".to_owned(),
        ParameterKind::Integer { rule, .. } => describe_integer(rule),
        ParameterKind::Page => describe_integer(&IntegerRule::PAGE),
        ParameterKind::OneOf(known) => format!("one of {}", quote(known)),
        ParameterKind::ListOf(known) => {
            format!("one or more of {}, separated by commas", quote(known))
        }
    }
}

fn describe_integer(rule: &IntegerRule) -> String {
    if rule.max == quillgate::text::MAX_SAFE_INTEGER {
        return format!("an integer from {} to 2^53 − 1", rule.min);
    }
    format!("an integer from {} to {}", rule.min, rule.max)
}

fn describe_default(parameter: &Parameter) -> String {
    match parameter.kind {
        ParameterKind::Integer { default, .. } => default.to_string(),
        _ if parameter.is_required => "required".to_owned(),
        _ => "none".to_owned(),
    }
}

fn result(operation: Operation, shown: &mut Vec<(&'static str, &'static str)>) -> String {
    let declared: &Declaration = operation.declaration();
    if let Some(list) = operation.exported() {
        let name = list.declaration().name;
        let columns = columns(list).names;
        let columns: Vec<_> = columns.iter().map(String::as_str).collect();
        return format!(
            "\nResult: the rows of [`{name}`](#{}), as CSV or NDJSON. The CSV columns are {}.\n",
            anchor(name),
            quote(&columns)
        );
    }
    let (JsonType::Object(object), name) = (operation.result(), declared.name) else {
        return "\nThe response has no body.\n".to_owned();
    };
    let kind = object.name;
    if let Some((_, before)) = shown.iter().find(|(of, _)| *of == kind) {
        return format!(
            "\nResult: `{kind}`, see [`{before}`](#{}).\n",
            anchor(before)
        );
    }
    shown.push((kind, name));
    let doc = join_lines(object.doc);
    let mut text = format!(
        "\nResult: `{kind}`. {doc}\n\n| property | type | meaning |\n| --- | --- | --- |\n"
    );
    members("", object, &mut text);
    text
}

/// Appends a row for each field, including nested ones.
fn members(at: &str, object: &'static Object, text: &mut String) {
    for field in object.fields {
        member(at, field, "", text);
    }
}

fn member(at: &str, field: &'static Field, condition: &str, text: &mut String) {
    let at = format!("{at}{}", field.name);
    let (kind, doc) = (describe_kind(&field.kind), join_lines(field.doc));
    let _ = writeln!(text, "| `{at}` | {kind} | {condition}{doc} |");
    inner(&at, &field.kind, text);
}

fn inner(at: &str, kind: &'static JsonType, text: &mut String) {
    match kind {
        JsonType::Nullable(kind) => inner(at, kind, text),
        JsonType::List(kind) => inner(&format!("{at}[]"), kind, text),
        JsonType::Object(object) => members(&format!("{at}."), object, text),
        JsonType::Union(union) => variants(&format!("{at}."), union, text),
        JsonType::String
        | JsonType::OpenEnum(_)
        | JsonType::Tag(_)
        | JsonType::SafeInteger
        | JsonType::Percentage
        | JsonType::Boolean
        | JsonType::Empty => {}
    }
}

/// Appends rows for the fields that all variants share, then for the other fields of each variant.
fn variants(at: &str, union: &'static Union, text: &mut String) {
    let JsonType::Object(common) = union.otherwise else {
        return;
    };
    for field in common.fields {
        if field.name == union.tag {
            let known = list_tags(union);
            let doc = join_lines(field.doc);
            let kind = format!("{}, or another string", quote(&known));
            let _ = writeln!(text, "| `{at}{}` | {kind} | {doc} |", field.name);
        } else {
            member(at, field, "", text);
        }
    }
    for (value, kind) in union.variants {
        let JsonType::Object(object) = kind else {
            continue;
        };
        let is_own = |field: &&Field| !common.fields.iter().any(|other| other.name == field.name);
        for field in object.fields.iter().filter(is_own) {
            member(
                at,
                field,
                &format!("If `{}` is `{value}`: ", union.tag),
                text,
            );
        }
    }
}

/// Returns the tag's known values: those of the variants and those of the fallback type.
fn list_tags(union: &Union) -> Vec<&'static str> {
    let kinds = union.variants.iter().map(|(_, kind)| kind);
    let mut known = Vec::new();
    for kind in kinds.chain([&union.otherwise]) {
        let JsonType::Object(object) = kind else {
            continue;
        };
        let tag = object.fields.iter().find(|field| field.name == union.tag);
        if let Some(JsonType::Tag(values) | JsonType::Nullable(JsonType::Tag(values))) =
            tag.map(|field| &field.kind)
        {
            known.extend(*values);
        }
    }
    known
}

fn describe_kind(kind: &JsonType) -> String {
    match kind {
        JsonType::String => "a string".to_owned(),
        JsonType::OpenEnum(named) => format!("{}, or another string", quote(named.known)),
        JsonType::Tag(known) => quote(known),
        JsonType::SafeInteger => "an integer from 0 to 2^53 − 1".to_owned(),
        JsonType::Percentage => "a percentage".to_owned(),
        JsonType::Boolean => "`true` or `false`".to_owned(),
        JsonType::Empty => "nothing".to_owned(),
        JsonType::Object(_) | JsonType::Union(_) => format!("`{}`", kind.name()),
        JsonType::List(inner) => match inner {
            JsonType::Object(_) | JsonType::Union(_) => format!("a list of `{}`", inner.name()),
            _ => format!("a list, each {}", describe_kind(inner)),
        },
        JsonType::Nullable(inner) => format!("{}, or `null`", describe_kind(inner)),
    }
}

fn quote(known: &[&str]) -> String {
    let known: Vec<_> = known.iter().map(|text| format!("`{text}`")).collect();
    known.join(", ")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use quillgate::Operation;

    use super::markdown;
    use crate::text::of_package;

    #[test]
    fn every_operation_has_a_section_with_its_request() {
        let text = markdown();
        for operation in Operation::ALL.iter().copied() {
            let declared = operation.declaration();
            let request = format!("`{} {}`", declared.method.as_str(), declared.path);
            let heading = format!("\n## {}\n", declared.name);
            let at = text.find(&heading).expect(declared.name);
            assert!(text[at..].contains(&request), "{request}");
        }
    }

    #[test]
    fn a_parameter_lists_its_bounds_and_location() {
        let text = markdown();
        for row in [
            "| `limit` | query | an integer from 1 to 250 | 50 | Rows per page. |",
            "| `views[].path` | a string, or `null` | The page's path, such as `/guides/start`. |",
            "| `feedback[].code` | a string, or `null` | If `source` is `code_snippet`: The code. |",
            "| package | `client.agentJobs.sendMessage(id, params)` |",
            "| package | `client.analytics.conversation(threadId)` |",
        ] {
            assert!(text.contains(&format!("\n{row}\n")), "{row}");
        }
    }

    /// The reference derives the names of methods from the names of operations.
    #[test]
    fn the_package_has_a_method_for_every_operation() {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../src");
        for operation in of_package() {
            let name = operation.declaration().name;
            let (group, method) = name.split_once('.').expect("a name of two parts");
            let file = match group {
                "agentJobs" => "agent_jobs.ts",
                "analytics" => "analytics.ts",
                "automations" => "automations.ts",
                "deployments" => "deployments.ts",
                "previews" => "previews.ts",
                other => panic!("no file is known for {other}"),
            };
            let source = std::fs::read_to_string(sources.join(file)).expect(file);
            assert!(
                source.contains(&format!("\n  {method}(")),
                "{name} in {file}"
            );
        }
    }
}
