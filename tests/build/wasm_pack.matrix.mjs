/** `wasm-pack test`, as its users run it. `npm test` runs the same tests with Cargo. */
import { test } from "node:test";
import { run } from "../../scripts/child.mjs";
import { ROOT } from "../../scripts/versions.mjs";

const FOLDERS = {
  "pkg/wasm": ["--test", "bindings"],
  ".": ["--test", "client_web"],
  worker: ["--lib"],
};

for (const [folder, args] of Object.entries(FOLDERS)) {
  test(`wasm-pack test --node ${folder} passes`, { timeout: 600_000 }, async () => {
    const all = ["test", "--node", "--mode", "no-install", folder, ...args, "--locked"];
    await run("testing", "wasm-pack", all, { cwd: ROOT });
  });
}
