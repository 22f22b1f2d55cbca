/** Arguments of the Cargo commands that test and lint. They share one target folder. */

const STRICT = ["--", "-D", "warnings"];

export const BINDINGS = ["--test", "bindings"];
export const CLIENT = ["--test", "client_web"];
export const CORE_TESTS = ["test", "--locked", "--workspace", "--no-fail-fast"];

/**
 * The arguments of each `cargo clippy`. Enabling all features is enough, because no code depends on
 * the absence of a feature.
 */
export const LINTS = [
  ["--workspace", "--all-targets", ...STRICT],
  [
    ...["--target", "wasm32-unknown-unknown", "--all-features", "--all-targets"],
    ...[
      "-p",
      "quillgate",
      "-p",
      "quillgate-wasm",
      "-p",
      "quillgate-worker",
      "-p",
      "quillgate-check-config",
    ],
    ...STRICT,
  ],
];
