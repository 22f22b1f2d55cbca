//! `wasm-bindgen` from wasm-bindgen-cli.

use std::env;

use wasm_bindgen_cli::wasm_bindgen::run_cli_with_args;

fn main() -> anyhow::Result<()> {
    run_cli_with_args(env::args_os())
}
