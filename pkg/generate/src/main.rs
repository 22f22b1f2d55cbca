//! Writes what follows from the core's own description of its types, and from the gateway's
//! table of operations:
//!
//! ```text
//! quillgate-generate types FILE      the TypeScript types of parameters and results
//! quillgate-generate decoders FILE   the decoders that check a parsed body in JavaScript
//! quillgate-generate openapi FILE    the gateway's description of itself, OpenAPI 3.1
//! ```
//!
//! `quillgate-generate check-config` writes nothing: it reads the gateway's variables, a JSON object
//! on standard input, as the gateway itself does, and says what is wrong with them.

use std::process::ExitCode;

mod check_config;
mod decoders;
mod openapi;
mod reachable;
mod text;
mod types;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (text, path) = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["types", path] => (types::typescript(), path),
        ["decoders", path] => (decoders::javascript(), path),
        ["openapi", path] => (openapi::description().to_string(), path),
        ["check-config"] => return check_config(),
        _ => {
            eprintln!("usage: quillgate-generate types|decoders|openapi FILE");
            eprintln!("       quillgate-generate check-config < VARIABLES");
            return ExitCode::from(2);
        }
    };
    match std::fs::write(path, text) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{path}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn check_config() -> ExitCode {
    let checked = std::io::read_to_string(std::io::stdin())
        .map_err(|error| error.to_string())
        .and_then(|json| check_config::check(&json));
    match checked {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    /// The decoders stand in the source tree, since wasm-bindgen takes a JavaScript
    /// module from there; this is what keeps them in step with the Rust types.
    #[test]
    fn the_decoders_in_the_source_tree_are_those_of_the_rust_types() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../src/wasm/decode.js");
        let found = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            found == crate::decoders::javascript(),
            "src/wasm/decode.js is stale: cargo run -p quillgate-generate -- decoders src/wasm/decode.js"
        );
    }
}
