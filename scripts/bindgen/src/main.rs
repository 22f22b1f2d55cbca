//! Writes the JavaScript glue of a wasm file, like the `wasm-bindgen` command line.
//!
//! The options have the names that `wasm-bindgen` gives them.

use std::process::ExitCode;

use pico_args::Arguments;
use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    match run(Arguments::from_env()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("quillgate-bindgen: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(mut args: Arguments) -> anyhow::Result<()> {
    let target: String = args.value_from_str("--target")?;
    let out_name: String = args.value_from_str("--out-name")?;
    let out_dir: String = args.value_from_str("--out-dir")?;
    let mut bindgen = Bindgen::new();
    bindgen
        .out_name(&out_name)
        .typescript(true)
        .remove_name_section(args.contains("--remove-name-section"))
        .remove_producers_section(args.contains("--remove-producers-section"))
        .omit_default_module_path(args.contains("--omit-default-module-path"))
        .reset_state_function(args.contains("--experimental-reset-state-function"));
    match target.as_str() {
        "bundler" => bindgen.bundler(true)?,
        "web" => bindgen.web(true)?,
        other => anyhow::bail!("--target must be bundler or web, not {other}"),
    };
    bindgen.input_path(args.free_from_str::<String>()?);
    if let Some(unknown) = args.finish().first() {
        anyhow::bail!("unknown argument {}", unknown.display());
    }
    bindgen.generate(out_dir)
}
