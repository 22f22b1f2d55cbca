//! Exports the operations as JSON, for comparisons with other API descriptions.

use quillgate::declaration::{Pagination, Parameter, ParameterIn, ParameterKind};
use quillgate::schema::{Field, JsonType};
use quillgate::{IntegerRule, Operation, RateLimitPolicy};
use serde_json::{Map, Value, json};

use quillgate::documentation::join_lines;

/// Returns the declaration and the result type of every operation.
pub fn list() -> Value {
    Operation::ALL.iter().copied().map(describe).collect()
}

fn describe(operation: Operation) -> Value {
    let (declared, documented) = (operation.declaration(), operation.documentation());
    let docs = documented.parameters.iter();
    let own = declared.parameters.iter().zip(docs);
    let own = own.map(|(parameter, doc)| describe_parameter(parameter, doc));
    let project = declared.path.contains("{projectId}");
    let project = project.then(describe_project_id);
    json!({
        "name": declared.name,
        "summary": join_lines(documented.summary),
        "method": declared.method.as_str(),
        "path": declared.path,
        "parameters": project.into_iter().chain(own).collect::<Vec<_>>(),
        "result": describe_kind(operation.result()),
        "scope": declared.scope.as_str(),
        "policy": declared.policy.map(RateLimitPolicy::as_str),
        "pagination": describe_pagination(declared.pagination),
        "link": documented.link,
    })
}

/// Describes `projectId`, which declarations omit.
fn describe_project_id() -> Value {
    let project = Parameter::optional("projectId", ParameterIn::Path, ParameterKind::Id).require();
    describe_parameter(&project, "The project's identifier.")
}

fn describe_parameter(parameter: &Parameter, doc: &str) -> Value {
    let mut described = describe_parameter_kind(parameter.kind);
    described["name"] = parameter.name.into();
    described["in"] = name_place(parameter.place).into();
    described["required"] = parameter.is_required.into();
    described["description"] = doc.into();
    described
}

/// Returns the name of a parameter's location: `path`, `query` or `body`.
pub fn name_place(place: ParameterIn) -> &'static str {
    match place {
        ParameterIn::Path => "path",
        ParameterIn::Query => "query",
        ParameterIn::Body => "body",
    }
}

fn describe_parameter_kind(kind: ParameterKind) -> Value {
    let integer = |rule: &IntegerRule| json!({ "minimum": rule.min, "maximum": rule.max });
    let (name, mut described) = match kind {
        ParameterKind::Text => ("text", json!({ "minLength": 1 })),
        ParameterKind::Id => ("id", json!({ "minLength": 1 })),
        ParameterKind::Ulid => ("ulid", json!({})),
        ParameterKind::Date => ("date", json!({})),
        ParameterKind::Integer { rule, default } => {
            let mut bounds = integer(rule);
            bounds["default"] = default.into();
            ("integer", bounds)
        }
        ParameterKind::Page => ("page", integer(&IntegerRule::PAGE)),
        ParameterKind::OneOf(known) => ("oneOf", json!({ "known": known })),
        ParameterKind::ListOf(known) => ("listOf", json!({ "known": known })),
    };
    described["kind"] = name.into();
    described
}

fn describe_pagination(pagination: Pagination) -> Value {
    match pagination {
        Pagination::None => json!({ "kind": "whole" }),
        Pagination::Offset { rows } => json!({ "kind": "offset", "rows": rows }),
        Pagination::Cursor { rows, .. } => json!({ "kind": "cursor", "rows": rows }),
    }
}

fn describe_kind(kind: &JsonType) -> Value {
    match kind {
        JsonType::String => json!({ "kind": "text" }),
        JsonType::OpenEnum(named) => {
            json!({ "kind": "openEnum", "name": named.name, "known": named.known })
        }
        JsonType::Tag(known) => json!({ "kind": "tag", "known": known }),
        JsonType::SafeInteger => json!({ "kind": "count" }),
        JsonType::Percentage => json!({ "kind": "percentage" }),
        JsonType::Boolean => json!({ "kind": "flag" }),
        JsonType::Empty => json!({ "kind": "nothing" }),
        JsonType::List(inner) => json!({ "kind": "list", "items": describe_kind(inner) }),
        JsonType::Nullable(inner) => json!({ "kind": "nullable", "value": describe_kind(inner) }),
        JsonType::Object(object) => {
            let members = object.fields.iter().map(describe_member);
            let members: Map<_, _> = members.collect();
            json!({ "kind": "object", "name": object.name, "members": members })
        }
        JsonType::Union(union) => {
            let variants = union.variants.iter();
            let variants: Map<_, _> = variants
                .map(|(tag, kind)| ((*tag).to_owned(), describe_kind(kind)))
                .collect();
            json!({
                "kind": "union",
                "name": union.name,
                "tag": union.tag,
                "variants": variants,
                "otherwise": describe_kind(&union.otherwise),
            })
        }
    }
}

fn describe_member(field: &Field) -> (String, Value) {
    let mut member = describe_kind(&field.kind);
    member["description"] = join_lines(field.doc).into();
    (field.name.to_owned(), member)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::list;

    #[test]
    fn an_operation_lists_its_bounds_and_result() {
        let all = list();
        let operations = all.as_array().expect("a list");
        let views = operations
            .iter()
            .find(|operation| operation["name"] == "analytics.views")
            .expect("page views");
        assert_eq!(views["method"], "GET");
        assert_eq!(views["path"], "/v1/analytics/{projectId}/views");
        assert_eq!(views["scope"], "analytics:read");
        assert_eq!(views["policy"], "analytics");
        assert_eq!(
            views["pagination"],
            json!({ "kind": "offset", "rows": "views" })
        );
        let parameters = views["parameters"].as_array().expect("parameters");
        let names: Vec<_> = parameters.iter().map(|own| own["name"].clone()).collect();
        assert_eq!(
            names,
            ["projectId", "dateFrom", "dateTo", "limit", "offset", "page"]
        );
        let required: Vec<_> = parameters
            .iter()
            .map(|own| own["required"] == true)
            .collect();
        assert_eq!(required, [true, false, false, false, false, false]);
        let expected = json!({
            "name": "limit", "in": "query", "required": false, "kind": "integer",
            "minimum": 1, "maximum": 250, "default": 50, "description": "Rows per page.",
        });
        assert_eq!(parameters[3], expected);
        let members = &views["result"]["members"];
        assert_eq!(members["hasMore"]["value"]["kind"], "flag");
        let row = &members["views"]["items"];
        assert_eq!(row["name"], "PageView");
        assert_eq!(row["members"]["human"]["value"]["kind"], "count");
    }

    #[test]
    fn operations_of_the_gateway_alone_have_no_link() {
        let all = list();
        let of_gateway = all.as_array().expect("a list").iter();
        let names: Vec<_> = of_gateway
            .filter(|operation| operation["link"].is_null())
            .map(|operation| operation["name"].clone())
            .collect();
        let expected = [
            "agentJobs.list",
            "agentJobs.record",
            "agentJobs.deleteRecord",
            "analytics.dailyViews",
            "analytics.archivedViews",
            "analytics.archiveStatus",
            "analytics.estimateBackfill",
            "analytics.beginBackfill",
            "deployments.list",
            "deployments.deleteRecord",
            "agentJobs.events",
            "agentJobs.allEvents",
            "deployments.events",
            "deployments.allEvents",
            "analytics.views.export",
            "analytics.visitors.export",
            "analytics.feedback.export",
            "analytics.searches.export",
            "analytics.conversations.export",
        ];
        assert_eq!(names, expected);
    }
}
