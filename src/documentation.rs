//! Functions for generators of code and documentation.

use crate::operation::Operation;
use crate::schema::{JsonType, Object, OpenEnum, Union};

/// Named types, in an order in which each type follows the types that it contains.
#[derive(Default)]
pub struct NamedTypes {
    /// Objects.
    pub objects: Vec<&'static Object>,
    /// Unions of objects, discriminated by a tag.
    pub unions: Vec<&'static Union>,
    /// String types with known values that also accept others.
    pub enums: Vec<&'static OpenEnum>,
}

/// Returns the named types in the results of all operations.
#[must_use]
pub fn named_types() -> NamedTypes {
    let mut found = NamedTypes::default();
    for operation in Operation::ALL {
        found.add(operation.result());
    }
    found
}

impl NamedTypes {
    fn add(&mut self, kind: &'static JsonType) {
        match kind {
            JsonType::String
            | JsonType::Tag(_)
            | JsonType::SafeInteger
            | JsonType::Percentage
            | JsonType::Boolean
            | JsonType::Empty => {}
            JsonType::List(inner) | JsonType::Nullable(inner) => self.add(inner),
            JsonType::OpenEnum(named) => {
                if !self.enums.iter().any(|known| known.name == named.name) {
                    self.enums.push(named);
                }
            }
            JsonType::Union(union) => {
                for (_, variant) in union.variants {
                    self.add(variant);
                }
                self.add(&union.otherwise);
                if !self.unions.iter().any(|known| known.name == union.name) {
                    self.unions.push(union);
                }
            }
            JsonType::Object(object) => {
                for field in object.fields {
                    self.add(&field.kind);
                }
                if !self.objects.iter().any(|known| known.name == object.name) {
                    self.objects.push(object);
                }
            }
        }
    }
}

/// Joins lines of documentation into one paragraph.
#[must_use]
pub fn join_lines(lines: &[&str]) -> String {
    let lines: Vec<_> = lines.iter().map(|line| line.trim()).collect();
    lines.join(" ")
}
