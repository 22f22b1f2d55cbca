/** The Cargo commands of the suites: what `npm test` compiles beside the build. */
import { PACKAGE_CRATE } from "./build.mjs";

const WASM = ["--target", "wasm32-unknown-unknown"];
const STRICT = ["--", "-D", "warnings"];

/** Only that test target: the others and the doctests are the core suite's. */
export const BINDINGS = [...PACKAGE_CRATE, "--test", "bindings"];

/** What each `cargo clippy` is given. */
export const LINTS = [
  ["--workspace", "--all-targets", ...STRICT],
  [...PACKAGE_CRATE, ...WASM, "--all-targets", ...STRICT],
  ["-p", "quillgate-worker", ...WASM, "--all-targets", ...STRICT],
  ["-p", "quillgate-worker", ...WASM, "--features", "trap-route", ...STRICT],
];

/** What `cargo test` is given for the core suite. */
export const CORE_TESTS = ["--workspace", "--no-fail-fast"];

/** What wasm-pack gives to `cargo test` for the bindings' suites. */
export const BINDINGS_TESTS = [...WASM, ...BINDINGS];
