//! Generates the table of operations that the command line turns into commands.

use std::fmt::Write as _;

use quillgate::Operation;
use quillgate::columns::{Columns, row_columns};
use quillgate::declaration::{Pagination, ParameterKind};
use quillgate::schema::JsonType;
use serde_json::{Value, json};

use crate::text::of_package;
use quillgate::documentation::join_lines;

const PRELUDE: &str = "\
/** The operations that the command line offers. Generated from the Rust types: do not edit. */

export interface Parameter {
  readonly name: string;
  readonly summary: string;
  readonly isRequired: boolean;
  /** The allowed values; `null` if they are not a fixed list. */
  readonly choices: readonly string[] | null;
  /** The maximum of an integer; `null` for other types. */
  readonly max: number | null;
}

export interface DeclaredOperation {
  readonly name: string;
  readonly summary: string;
  /** The scope that an access token needs. */
  readonly scope: string;
  /** Whether the result is one page of a longer list. */
  readonly isPaginated: boolean;
  /** The property of the result that contains the rows; `null` if there are no rows. */
  readonly rows: string | null;
  /** The properties of a row, such as `path` or the nested `visitors.human`. */
  readonly columns: readonly string[];
  /** The columns that contain percentages from 0 to 100. */
  readonly percentages: readonly string[];
  readonly parameters: readonly Parameter[];
}

export const OPERATIONS: readonly DeclaredOperation[] = [
";

/// Returns the module `pkg/cli/generated/operations.ts`.
pub fn typescript() -> String {
    let mut module = String::from(PRELUDE);
    for operation in of_package() {
        let _ = writeln!(module, "  {},", describe(operation));
    }
    module.push_str("];\n");
    module
}

fn describe(operation: Operation) -> Value {
    let (declared, documented) = (operation.declaration(), operation.documentation());
    let rows = find_rows(operation);
    let columns = rows.map_or_else(Columns::default, |(_, row)| row_columns(row));
    let parameters = declared.parameters.iter().zip(documented.parameters);
    let parameters = parameters.map(|(parameter, summary)| {
        let (choices, max) = match parameter.kind {
            ParameterKind::OneOf(known) => (Some(known), None),
            ParameterKind::Integer { rule, .. } => (None, Some(rule.max)),
            _ => (None, None),
        };
        json!({
            "name": parameter.name,
            "summary": summary,
            "isRequired": parameter.is_required,
            "choices": choices,
            "max": max,
        })
    });
    json!({
        "name": declared.name,
        "summary": join_lines(documented.summary),
        "scope": declared.scope.as_str(),
        "isPaginated": !matches!(declared.pagination, Pagination::None),
        "rows": rows.map(|(name, _)| name),
        "columns": columns.names,
        "percentages": rows.map_or_else(Vec::new, |(_, row)| find_percentages(row)),
        "parameters": parameters.collect::<Vec<_>>(),
    })
}

/// Returns the name of the property that contains the rows, and the type of a row. If a result
/// without pages has exactly one list of objects, these are its rows. Otherwise it has no rows.
fn find_rows(operation: Operation) -> Option<(&'static str, &'static JsonType)> {
    let JsonType::Object(result) = operation.result() else {
        return None;
    };
    let paginated = operation.declaration().pagination.rows();
    let mut lists = result.fields.iter().filter_map(|field| match field.kind {
        JsonType::List(row @ (JsonType::Object(_) | JsonType::Union(_))) => Some((field.name, row)),
        _ => None,
    });
    match paginated {
        Some(rows) => lists.find(|(name, _)| *name == rows),
        None => lists.next().filter(|_| lists.next().is_none()),
    }
}

/// Returns the names of a row's percentages.
fn find_percentages(row: &JsonType) -> Vec<&'static str> {
    let JsonType::Object(row) = row else {
        return Vec::new();
    };
    let is_percentage = |kind: &JsonType| {
        matches!(
            kind,
            JsonType::Percentage | JsonType::Nullable(JsonType::Percentage)
        )
    };
    let fields = row.fields.iter().filter(|field| is_percentage(&field.kind));
    fields.map(|field| field.name).collect()
}

#[cfg(test)]
mod tests {
    use quillgate::Operation;

    use super::{describe, find_rows};

    #[test]
    fn a_result_with_one_list_of_records_has_rows() {
        let rows = find_rows(Operation::GetFeedbackByPage).map(|(name, _)| name);
        assert_eq!(rows, Some("feedback"));
    }

    #[test]
    fn a_result_with_two_lists_or_none_has_no_rows() {
        assert!(find_rows(Operation::GetCallerStats).is_none());
        assert!(find_rows(Operation::GetAgentJobRecord).is_none());
    }

    #[test]
    fn click_rates_are_the_percentages_of_searches() {
        let described = describe(Operation::ListSearches);
        assert_eq!(described["percentages"], serde_json::json!(["ctr"]));
    }

    #[test]
    fn a_parameter_lists_its_choices_and_maximum() {
        let described = describe(Operation::ListFeedback);
        let find = |name: &str| {
            let parameters = described["parameters"].as_array().expect("a list");
            let found = parameters
                .iter()
                .find(|parameter| parameter["name"] == name);
            found.expect(name).clone()
        };
        assert_eq!(find("source")["choices"][0], "code_snippet");
        assert_eq!(find("limit")["max"], 100);
        assert!(find("status")["choices"].is_null());
    }
}
