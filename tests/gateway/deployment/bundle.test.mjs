/** The bundle that wrangler would deploy. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { ROOT } from "../../../scripts/versions.mjs";
import { newCanaryKey } from "../../harness/canary.mjs";
import { makeFolder } from "../../harness/folder.mjs";
import { newSecret } from "../../harness/token.mjs";
import { wranglerEnv } from "../../harness/wrangler.mjs";

describe("the deployed bundle", () => {
  const SECRETS = { ADMIN_API_KEY: newCanaryKey(), ACCESS_TOKEN_SECRET: newSecret() };
  const folder = makeFolder({ after }, "deploy");
  let output;
  let upload;
  let parts;

  before(async () => {
    const file = join(folder, "upload");
    const config = join(ROOT, "worker", "wrangler.toml");
    const out = ["--outfile", file, "--outdir", join(folder, "out")];
    const args = ["deploy", "--dry-run", "--config", config, ...out];
    const env = { ...wranglerEnv(process.env, folder), ...SECRETS };
    const wrangler = join(ROOT, "node_modules", ".bin", "wrangler");
    const options = { env, timeout: 60_000 };
    const { stdout, stderr } = await promisify(execFile)(wrangler, args, options);
    output = stdout + stderr;
    upload = readFileSync(file, "latin1");
    parts = partsOf(upload);
  });

  test("passes wrangler's dry run with all Durable Objects and the page", () => {
    assert.match(output, /--dry-run: exiting now/);
    assert.doesNotMatch(output, /warning|deprecated/i);
    const { main_module, bindings, observability } = JSON.parse(parts.metadata);
    assert.deepEqual([main_module, observability.enabled], ["index.js", true]);
    const types = Object.fromEntries(bindings.map(({ name, type }) => [name, type]));
    for (const name of ["PROJECT_GATE", "ORG_GATE", "SESSION"]) {
      assert.equal(types[name], "durable_object_namespace");
    }
    assert.equal(types.ASSETS, "assets");
  });

  test("deploys the Worker's script and modules without source maps", () => {
    const modules = Object.keys(parts).filter((name) => name !== "metadata");
    assert.equal(modules.length, 3, modules.join());
    assert.match(modules[0], /^index\.js$/);
    assert.match(modules[1], /gateway_bg\.wasm$/);
    assert.match(modules[2], /openapi\.txt$/);
    assert.doesNotMatch(upload, /"sourcesContent"|"mappings":/);
  });

  test("keeps secrets and local paths out of the deployed bundle", () => {
    for (const [name, secret] of Object.entries(SECRETS)) {
      assert.ok(!upload.includes(secret) && !output.includes(secret), name);
    }
    const { bindings } = JSON.parse(parts.metadata);
    const variables = bindings.filter(({ text }) => text !== undefined).map(({ name }) => name);
    assert.deepEqual(variables.sort(), ["ALLOWED_ORIGINS", "UPSTREAM_BASE_URL"]);
    assert.doesNotMatch(upload, /mint_[a-z0-9]{10}|whsec_[A-Za-z0-9+/]{20}|-----BEGIN [A-Z ]*KEY/);
    assert.ok(!upload.includes(ROOT), ROOT);
    assert.ok(!upload.includes(`${homedir()}/`), homedir());
  });

  test("deploys the page without source maps or settings files", () => {
    const names = readdirSync(join(ROOT, "www", "dist"), { recursive: true }).map(String);
    assert.ok(names.includes("index.html"));
    const unwanted = names.filter((name) => /\.map$|(^|\/)\.|\.env|\.dev\.vars/.test(name));
    assert.deepEqual(unwanted, []);
  });

  /** Parses `multipart/form-data` (RFC 7578). Returns the content of each part by its name. */
  function partsOf(form) {
    const boundary = form.slice(0, form.indexOf("\r\n"));
    const entries = form.split(boundary).slice(1, -1);
    return Object.fromEntries(
      entries.map((entry) => {
        const at = entry.indexOf("\r\n\r\n");
        const [, name] = /; name="([^"]*)"/.exec(entry.slice(0, at));
        return [name, entry.slice(at + 4, -2)];
      }),
    );
  }
});
