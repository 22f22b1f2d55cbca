/** Runs documented workflows that consist of scripts, as GitHub's runner does. */
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { capture } from "../../scripts/child.mjs";
import { BIN } from "../cli/command_line.mjs";
import { makeFolders, parseCommands } from "./runner.mjs";
import { expandAll, readExample } from "./workflow.mjs";

/** Programs that a workflow installs. */
const PROGRAMS = {
  npm: "exit 0",
  quillgate: `exec "${process.execPath}" "${BIN}" "$@"`,
  sleep: "exit 0",
};

export async function runScripts(heading, { env, context }) {
  const { job } = readExample(heading);
  const home = mkdtempSync(join(tmpdir(), "quillgate-scripts-"));
  try {
    const { workspace, temp } = makeFolders(home);
    const [programs, summary] = [join(home, "programs"), join(home, "summary")];
    mkdirSync(programs);
    for (const [name, script] of Object.entries(PROGRAMS)) {
      writeFileSync(join(programs, name), `#!/bin/sh\n${script}\n`);
      chmodSync(join(programs, name), 0o755);
    }
    writeFileSync(summary, "");
    let [code, raw] = [0, ""];
    for (const step of job.steps) {
      if (code !== 0) break;
      assert.doesNotMatch(step.run, /\$\{\{/, "a script contains an expression");
      const variables = {
        PATH: `${programs}:${process.env.PATH}`,
        HOME: home,
        ...{ GITHUB_ACTIONS: "true", GITHUB_STEP_SUMMARY: summary, RUNNER_TEMP: temp },
        ...job.env,
        ...expandAll(step.env ?? {}, context),
        ...env,
      };
      const result = await capture("bash", ["-e", "-c", step.run], {
        cwd: workspace,
        env: variables,
      });
      code = result.code;
      raw += result.stdout + result.stderr;
    }
    return { code, raw, ...parseCommands(raw), summary: readFileSync(summary, "utf8") };
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
}
