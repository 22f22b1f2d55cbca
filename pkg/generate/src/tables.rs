//! Generates the table of exported lists: the property that contains the rows, and the columns.

use std::fmt::Write as _;

use quillgate::columns::columns;

use crate::text::of_package;

const PRELUDE: &str = "\
/** The columns that exports write, by list. Generated from the Rust types: do not edit. */

export interface Table {
  /** The property of a page that contains the rows. */
  readonly rows: string;
  /** The properties of a row, such as `path` or the nested `visitors.human`. */
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
            let names = columns(operation).names;
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
