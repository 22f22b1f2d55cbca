/** Arguments of the Cargo commands that test and lint. They share one target folder. */

const STRICT = ["--", "-D", "warnings"];
/** One set of features for both, so that Cargo compiles the crate once. */
const WASM_TESTS = ["-p", "quillgate", "--no-default-features", "--features", "bindings,client"];

export const BINDINGS = [...WASM_TESTS, "--test", "bindings"];
export const CLIENT = [...WASM_TESTS, "--test", "client"];
export const CORE_TESTS = ["nextest", "run", "--locked", "--workspace", "--no-fail-fast"];
export const DOC_TESTS = ["test", "--locked", "--workspace", "--doc", "--no-fail-fast"];

/** The arguments of each `cargo clippy`: no code depends on the absence of a feature. */
export const LINTS = [
  ["--workspace", "--all-targets", ...STRICT],
  [
    ...["--target", "wasm32-unknown-unknown", "--all-features", "--all-targets"],
    ...["-p", "quillgate", "-p", "quillgate-worker", "-p", "quillgate-check-config"],
    ...STRICT,
  ],
];
