/** Arguments of the Cargo commands that test and lint. They share one target folder. */

const WASM = ["--target", "wasm32-unknown-unknown"];
const STRICT = ["--", "-D", "warnings"];
/** The npm package's crate: bindings, without a JSON parser. */
const PACKAGE_CRATE = ["-p", "quillgate", "--no-default-features", "--features", "bindings"];
/** The crate for Rust programs compiled to WebAssembly. */
const CLIENT_CRATE = ["-p", "quillgate", "--no-default-features", "--features", "client"];
/** One set of features for both, so that Cargo compiles the crate once. */
const WASM_TESTS = ["-p", "quillgate", "--no-default-features", "--features", "bindings,client"];

export const BINDINGS = [...WASM_TESTS, "--test", "bindings"];
export const CLIENT = [...WASM_TESTS, "--test", "client"];
export const CORE_TESTS = ["nextest", "run", "--locked", "--workspace", "--no-fail-fast"];
export const DOC_TESTS = ["test", "--locked", "--workspace", "--doc", "--no-fail-fast"];

/** The arguments of each `cargo clippy`. */
export const LINTS = [
  ["--workspace", "--all-targets", ...STRICT],
  [...PACKAGE_CRATE, ...WASM, "--all-targets", ...STRICT],
  [...CLIENT_CRATE, ...WASM, "--all-targets", ...STRICT],
  ["-p", "quillgate-worker", ...WASM, "--all-targets", "--features", "trap-route", ...STRICT],
];
