//! Generates the table of exported lists: the property that contains the rows, and the columns.

use std::fmt::Write as _;

use quillgate::columns::{Column, columns};

use crate::text::of_package;

const PRELUDE: &str = "\
/** What an export writes of each list. Generated from the Rust types: do not edit. */

export interface Table {
  /** The member of a page that holds the rows. */
  readonly rows: string;
  /** Members of a row; a dot leads to those of a record within it. */
  readonly columns: readonly string[];
}

export const TABLES: Readonly<Record<string, Table>> = {
";

/// Returns the module `pkg/src/generated/tables.ts`.
pub fn typescript() -> String {
    let mut module = String::from(PRELUDE);
    for operation in of_package() {
        let declared = operation.declaration();
        if let Some(rows) = declared.pagination.rows() {
            let names: Vec<_> = columns(operation).iter().map(Column::name).collect();
            let _ = writeln!(
                module,
                "  \"{}\": {{ rows: \"{rows}\", columns: {names:?} }},",
                declared.name
            );
        }
    }
    module.push_str("};\n");
    module
}
