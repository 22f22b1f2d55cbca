//! The columns of a list's rows in a table, such as the CSV of an export.

use crate::operation::Operation;
use crate::schema::{JsonType, Object};

/// A column: a property of a row, or of a record nested in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// The property names that lead from the row to the value.
    pub path: Vec<&'static str>,
}

impl Column {
    /// Returns the column's name: its path, joined with dots.
    #[must_use]
    pub fn name(&self) -> String {
        self.path.join(".")
    }
}

/// Returns the columns of a list's rows. Empty if the operation's result has no rows.
///
/// A nested record has one column per property. An array has a single column, and so does a nested
/// union. If the row itself is a union, it has the columns of all variants, each once.
///
/// ```
/// use quillgate::Operation;
/// use quillgate::columns::columns;
///
/// let columns = columns(Operation::ListPageViews);
/// let names: Vec<_> = columns.iter().map(|column| column.name()).collect();
/// assert_eq!(names, ["path", "human", "ai", "total"]);
/// ```
#[must_use]
pub fn columns(operation: Operation) -> Vec<Column> {
    find_row(operation).map_or_else(Vec::new, row_columns)
}

/// Returns the columns of rows of this type.
#[must_use]
pub fn row_columns(row: &'static JsonType) -> Vec<Column> {
    let mut columns = Vec::new();
    add_row(row, &mut columns);
    columns
}

fn find_row(operation: Operation) -> Option<&'static JsonType> {
    let JsonType::Object(page) = operation.result() else {
        return None;
    };
    let rows = operation.declaration().pagination.rows()?;
    page.fields.iter().find_map(|field| match field.kind {
        JsonType::List(row) if field.name == rows => Some(row),
        _ => None,
    })
}

fn add_row(row: &'static JsonType, columns: &mut Vec<Column>) {
    match row {
        JsonType::Union(union) => {
            for (_, variant) in union.variants {
                add_row(variant, columns);
            }
            add_row(&union.otherwise, columns);
        }
        JsonType::Object(object) => add_members(object, &[], columns),
        _ => {}
    }
}

fn add_members(object: &'static Object, parents: &[&'static str], columns: &mut Vec<Column>) {
    for field in object.fields {
        let mut path = parents.to_vec();
        path.push(field.name);
        if let JsonType::Object(record) = unwrap_nullable(&field.kind) {
            add_members(record, &path, columns);
            continue;
        }
        let column = Column { path };
        if !columns.contains(&column) {
            columns.push(column);
        }
    }
}

const fn unwrap_nullable(kind: &'static JsonType) -> &'static JsonType {
    match kind {
        JsonType::Nullable(inner) => inner,
        kind => kind,
    }
}
