/** The Cargo commands of the suites: what `npm test` compiles beside the build. */
import { CLIENT_CRATE, PACKAGE_CRATE } from "./build.mjs";

const WASM = ["--target", "wasm32-unknown-unknown"];
const STRICT = ["--", "-D", "warnings"];

/** Both have one build of the crate: in one folder, Cargo keeps a single result of a `cdylib`. */
const WASM_TESTS = ["-p", "quillgate", "--no-default-features", "--features", "bindings,client"];

/** Only that test target: the others and the doctests are the core suite's. */
export const BINDINGS = [...WASM_TESTS, "--test", "bindings"];

/** The Rust client's. */
export const CLIENT = [...WASM_TESTS, "--test", "client"];

/** What each `cargo clippy` is given. */
export const LINTS = [
  ["--workspace", "--all-targets", ...STRICT],
  [...PACKAGE_CRATE, ...WASM, "--all-targets", ...STRICT],
  [...CLIENT_CRATE, ...WASM, "--all-targets", ...STRICT],
  ["-p", "quillgate-worker", ...WASM, "--all-targets", ...STRICT],
  ["-p", "quillgate-worker", ...WASM, "--features", "trap-route", ...STRICT],
  ["-p", "quillgate-check-config", ...WASM, ...STRICT],
];

/** What `cargo test` is given for the core suite. */
export const CORE_TESTS = ["--workspace", "--no-fail-fast"];

/** What wasm-pack gives to `cargo test` for the bindings' suites. */
export const BINDINGS_TESTS = [...WASM, ...BINDINGS];

/** The same for the client's. */
export const CLIENT_TESTS = [...WASM, ...CLIENT];
