import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { capture } from "../../scripts/child.mjs";
import { ROOT } from "../../scripts/versions.mjs";
import { makeFolder } from "../harness/folder.mjs";

const VALUE = "hunter2-of-the-operator";
const folder = makeFolder({ after }, "check-config");

async function checkConfig(...args) {
  const command = ["run", "check-config", "--", ...args];
  const { code, stdout, stderr } = await capture("npm", command, { cwd: ROOT });
  return { code, output: stdout + stderr };
}

function writeConfigWith(line) {
  const original = readFileSync(join(ROOT, "worker", "wrangler.toml"), "utf8");
  assert.match(original, /^\[vars\]$/m);
  const path = join(folder, "wrangler.toml");
  const config = original.replace(/^\[vars\]$/m, () => `[vars]\n${line}`);
  writeFileSync(path, config);
  return path;
}

test("check-config accepts the Worker's configuration and lists the unchecked secrets", async () => {
  const { code, output } = await checkConfig();
  assert.equal(code, 0, output);
  assert.match(output, /with 2 variables; not checked.*: ADMIN_API_KEY, ACCESS_TOKEN_SECRET/);
});

test("check-config names every mistake in one run, without values, and suggests the right name", async () => {
  const lines = [
    `TRUSTED_ISSUERS = '[{"isuer":"${VALUE}"}]'`,
    `TRUSTED_ISSUER = "${VALUE}"`,
    `JOB_POLL_SECONDS = "${VALUE}"`,
    "CREATE_LIMIT_PER_HOUR = 5",
  ];
  const { code, output } = await checkConfig("--config", writeConfigWith(lines.join("\n")));
  assert.notEqual(code, 0, output);
  assert.match(output, /TRUSTED_ISSUERS must have issuers/);
  assert.match(output, /TRUSTED_ISSUER is not a variable of the Worker: is it TRUSTED_ISSUERS\?/);
  assert.match(output, /JOB_POLL_SECONDS must be an integer from 1 to 300/);
  assert.match(output, /CREATE_LIMIT_PER_HOUR must be a quoted string/);
  assert.ok(!output.includes(VALUE), output);
});
