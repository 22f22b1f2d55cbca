/** A typo in a variable is found before it is deployed. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { ROOT } from "../../scripts/versions.mjs";

const SCRIPT = join(ROOT, "scripts", "check_config.mjs");
const VALUE = "hunter2-of-the-operator";
let folder;

before(() => {
  folder = mkdtempSync(join(tmpdir(), "quillgate-check-config-"));
});
after(() => rmSync(folder, { recursive: true, force: true }));

async function checkConfig(...args) {
  const child = spawn(process.execPath, [SCRIPT, ...args], { cwd: folder });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
  }
  const [code] = await once(child, "close");
  return { code, output };
}

function file(name, text) {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** The Worker's wrangler configuration with another variable. */
function configWithVariable(line) {
  const original = readFileSync(join(ROOT, "worker", "wrangler.toml"), "utf8");
  assert.match(original, /^\[vars\]$/m);
  return file(
    "wrangler.toml",
    original.replace(/^\[vars\]$/m, () => `[vars]\n${line}`),
  );
}

test("the configuration as it is, is right, and says which secrets it has not seen", async () => {
  const { code, output } = await checkConfig();
  assert.equal(code, 0, output);
  assert.match(output, /variables are right \(not checked.*: ADMIN_API_KEY, ACCESS_TOKEN_SECRET\)/);
});

for (const [what, line, words] of [
  ["a rule", `TRUSTED_ISSUERS = '[{"isuer":"${VALUE}"}]'`, /TRUSTED_ISSUERS must have issuers/],
  ["a name", `TRUSTED_ISSUER = "${VALUE}"`, /TRUSTED_ISSUER is not a variable/],
  ["a number", "CREATE_LIMIT_PER_HOUR = 5", /CREATE_LIMIT_PER_HOUR must be a text/],
]) {
  test(`a typo in ${what} is named, without its value`, async () => {
    const { code, output } = await checkConfig("--config", configWithVariable(line));
    assert.notEqual(code, 0, output);
    assert.match(output, words);
    assert.ok(!output.includes(VALUE), output);
  });
}

test("every typo is named at once, with the name that was meant", async () => {
  const lines = `TRUSTED_ISSUER = "${VALUE}"\nJOB_POLL_SECONDS = "${VALUE}"`;
  const { code, output } = await checkConfig("--config", configWithVariable(lines));
  assert.notEqual(code, 0, output);
  assert.match(output, /TRUSTED_ISSUER is not a variable of the Worker: is it TRUSTED_ISSUERS\?/);
  assert.match(output, /JOB_POLL_SECONDS must be an integer from 1 to 300/);
  assert.ok(!output.includes(VALUE), output);
});

test("secrets are checked, as lines or as JSON, and never repeated", async () => {
  const secrets = {
    ADMIN_API_KEY: `mint_${VALUE}`,
    ACCESS_TOKEN_SECRET: `${VALUE}-${VALUE}`,
    REVOKED_TOKENS_2: '["a"]',
  };
  const lines = (all) => Object.entries(all).map(([name, value]) => `${name}='${value}'\n`);
  const forms = (all) => [
    file("secrets.env", lines(all).join("")),
    file("secrets.json", JSON.stringify(all)),
  ];
  for (const path of forms(secrets)) {
    const { code, output } = await checkConfig("--secrets", path);
    assert.equal(code, 0, output);
    assert.ok(!output.includes(VALUE) && !output.includes("not checked"), output);
  }
  for (const path of forms({ ...secrets, REVOKED_TOKENS_2: `[${VALUE}` })) {
    const { code, output } = await checkConfig("--secrets", path);
    assert.notEqual(code, 0, output);
    assert.match(output, /REVOKED_TOKENS_2 must be a JSON list/);
    assert.ok(!output.includes(VALUE), output);
  }
});
