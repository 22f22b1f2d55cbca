import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { capture } from "../../scripts/child.mjs";
import { ROOT } from "../../scripts/versions.mjs";
import { makeFolder } from "../harness/folder.mjs";

const VALUE = "hunter2-of-the-operator";
const folder = makeFolder({ after }, "check-config");

function npmRun(script, args, env = process.env) {
  return capture("npm", ["run", "-s", script, "--", ...args], { cwd: ROOT, env });
}

async function checkConfig(...args) {
  const { code, stdout, stderr } = await npmRun("check-config", args);
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
  assert.equal(code, 10, output);
  assert.match(output, /TRUSTED_ISSUERS must have issuers/);
  assert.match(output, /TRUSTED_ISSUER is not a variable of the Worker: is it TRUSTED_ISSUERS\?/);
  assert.match(output, /JOB_POLL_SECONDS must be an integer from 1 to 300/);
  assert.match(output, /CREATE_LIMIT_PER_HOUR must be a quoted string/);
  assert.ok(!output.includes(VALUE), output);
});

test("npm run token and npm run webhook-key print only a secret and only a key", async () => {
  const secret = await npmRun("token", ["--new-secret"]);
  assert.equal(secret.code, 0, secret.stderr);
  assert.match(secret.stdout, /^[\w-]{64}\n$/);
  const receiver = ["--project", "demo-docs", "--url", "https://hooks.example/"];
  const WEBHOOK_SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
  const key = await npmRun("webhook-key", receiver, { ...process.env, WEBHOOK_SECRET });
  assert.equal(key.code, 0, key.stderr);
  assert.match(key.stdout, /^whsec_[A-Za-z0-9+/]{43}=\n$/);
});
