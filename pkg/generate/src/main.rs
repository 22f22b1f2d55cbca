//! Generates files from the core's types and from the gateway's operations:
//!
//! ```text
//! quillgate-generate types FILE      the TypeScript types of parameters and results
//! quillgate-generate decoders FILE   the decoders that check a parsed body in JavaScript
//! quillgate-generate commands FILE   the operations from which the command line derives its commands
//! quillgate-generate tables FILE     the rows and columns of exported lists
//! quillgate-generate routes FILE     the gateway's routes and problems, for `quillgate/testing`
//! quillgate-generate protocol FILE   the constants shared by the package's wasm and its driver
//! quillgate-generate openapi FILE    the gateway's OpenAPI 3.1 description
//! quillgate-generate operations FILE the operations' declarations and results as JSON
//! quillgate-generate reference FILE  the reference of all operations, in Markdown
//! quillgate-generate configuration FILE  the reference of the gateway's variables, in Markdown
//! quillgate-generate scopes FILE     the reference of scopes and limits, in Markdown
//! quillgate-generate problems FOLDER the heads of the pages of problems, and their index
//! ```

use std::path::Path;
use std::process::ExitCode;

mod commands;
mod configuration;
mod decoders;
mod operations;
mod problems;
mod protocol;
mod reference;
mod routes;
mod scopes;
mod tables;
mod text;
mod types;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (text, path) = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["types", path] => (types::typescript(), path),
        ["decoders", path] => (decoders::typescript(), path),
        ["commands", path] => (commands::typescript(), path),
        ["tables", path] => (tables::typescript(), path),
        ["routes", path] => (routes::typescript(), path),
        ["protocol", path] => (protocol::typescript(), path),
        ["openapi", path] => (quillgate_openapi::description().to_string(), path),
        ["operations", path] => (operations::list().to_string(), path),
        ["reference", path] => (reference::markdown(), path),
        ["configuration", path] => (configuration::markdown(), path),
        ["scopes", path] => return conclude(path, scopes::write(Path::new(path))),
        ["problems", path] => return conclude(path, problems::write(Path::new(path))),
        _ => {
            eprintln!(
                "usage: quillgate-generate types|decoders|commands|tables|routes|protocol|openapi|operations|reference|configuration|scopes FILE"
            );
            eprintln!("       quillgate-generate problems FOLDER");
            return ExitCode::from(2);
        }
    };
    conclude(path, std::fs::write(path, text))
}

fn conclude(path: &str, written: std::io::Result<()>) -> ExitCode {
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{path}: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use quillgate::schema::JsonType;

    #[test]
    fn every_operation_of_the_package_has_a_decoder() {
        let module = crate::decoders::typescript();
        let (functions, table) = module.split_once("const DECODERS").expect("a table");
        for operation in crate::text::of_package() {
            let declared = operation.declaration();
            let result = match operation.result() {
                JsonType::Empty => "nothing",
                kind => kind.name(),
            };
            let is_listed = table.contains(&format!("\"{}\": {result},", declared.name));
            let is_defined = functions.contains(&format!("function {result}("));
            assert!(is_listed && is_defined, "{} has no decoder", declared.name);
        }
    }

    /// The references are committed so that they can be read next to the source.
    #[test]
    fn the_references_are_up_to_date() {
        for (path, what, text) in [
            ("operations", "reference", crate::reference::markdown()),
            (
                "configuration",
                "configuration",
                crate::configuration::markdown(),
            ),
        ] {
            assert_fresh(&format!("docs/reference/{path}.md"), what, &text);
        }
        let scopes = "docs/reference/scopes-and-limits.md";
        let updated = crate::scopes::update(&read(scopes)).expect("the heading");
        assert_fresh(scopes, "scopes", &updated);
    }

    fn assert_fresh(path: &str, what: &str, expected: &str) {
        let found = read(path);
        assert!(
            found == expected,
            "{path} is stale: cargo run -p quillgate-generate -- {what} {path}"
        );
    }

    fn read(path: &str) -> String {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        std::fs::read_to_string(format!("{root}/{path}")).expect(path)
    }
}
