//! The columns of a list's rows in a table, such as the CSV of an export.

use crate::operation::Operation;
use crate::schema::{JsonType, Object};

/// The columns of a list's rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Columns {
    /// The name of each column: its property names, joined with dots.
    pub names: Vec<String>,
    /// The properties of a row.
    pub members: Vec<Member>,
}

/// A property of a row, or of a record nested in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The property's name.
    pub name: &'static str,
    /// The columns of its value.
    pub content: Content,
}

/// The columns of a property's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// A single column, by its index in [`Columns::names`].
    Cell(usize),
    /// One or more columns per property of a nested record.
    Record(Vec<Member>),
}

/// Returns the columns of a list's rows. Empty if the operation is not a list.
///
/// A nested record has the columns of its properties. An array has a single column, and so does a
/// nested union. If the row itself is a union, it has the columns of all variants, each once.
///
/// ```
/// use quillgate::Operation;
/// use quillgate::columns::columns;
///
/// let columns = columns(Operation::ListPageViews);
/// assert_eq!(columns.names, ["path", "human", "ai", "total"]);
/// ```
#[must_use]
pub fn columns(operation: Operation) -> Columns {
    find_row(operation).map_or_else(Columns::default, row_columns)
}

/// Returns the columns of rows of this type. Empty unless the type is an object or a union.
#[must_use]
pub fn row_columns(row: &'static JsonType) -> Columns {
    let mut columns = Columns::default();
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

fn add_row(row: &'static JsonType, columns: &mut Columns) {
    match row {
        JsonType::Union(union) => {
            for (_, variant) in union.variants {
                add_row(variant, columns);
            }
            add_row(&union.otherwise, columns);
        }
        JsonType::Object(object) => {
            add_members(object, "", &mut columns.members, &mut columns.names);
        }
        _ => {}
    }
}

/// Adds the properties of `object` that `members` lacks. Their columns' names start with `prefix`.
fn add_members(
    object: &'static Object,
    prefix: &str,
    members: &mut Vec<Member>,
    names: &mut Vec<String>,
) {
    for field in object.fields {
        let column = [prefix, field.name].concat();
        let mut known = members.iter_mut();
        let known = known.find(|member| member.name == field.name);
        let kind = match &field.kind {
            JsonType::Nullable(inner) => inner,
            kind => kind,
        };
        let content = match (kind, known.map(|it| &mut it.content)) {
            (JsonType::Object(record), Some(Content::Record(inner))) => {
                add_members(record, &(column + "."), inner, names);
                continue;
            }
            (_, Some(_)) => continue,
            (JsonType::Object(record), None) => {
                let mut inner = Vec::new();
                add_members(record, &(column + "."), &mut inner, names);
                Content::Record(inner)
            }
            (_, None) => {
                names.push(column);
                Content::Cell(names.len() - 1)
            }
        };
        members.push(Member {
            name: field.name,
            content,
        });
    }
}
