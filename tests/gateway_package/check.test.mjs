import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { checkConfig } from "../../gateway/dist/tools/check.js";
import { init } from "../../gateway/dist/tools/init.js";
import { SECRETS } from "../../gateway/dist/tools/secrets.js";
import { ROOT } from "../../scripts/versions.mjs";
import { makeFolder } from "../harness/folder.mjs";

const VALUE = "hunter2-of-the-operator";
const directory = join(makeFolder({ after }, "check"), "my-gateway");
const configFile = join(directory, "wrangler.toml");
let template;

before(async () => {
  await init({ directory, project: "acme", archive: false });
  template = readFileSync(configFile, "utf8");
});
beforeEach(() => writeFileSync(configFile, template));

test("the check finds no problem in the configuration that init writes", async () => {
  assert.deepEqual((await checkConfig({ configFile })).problems, []);
});

test("the check's secrets are the variables that the documentation lists as secrets", () => {
  const text = readFileSync(join(ROOT, "docs", "reference", "configuration.md"), "utf8");
  const rows = [...text.matchAll(/^\| (`[A-Z].*?) \| ([a-z][^|]*) \| /gm)];
  const documented = rows.flatMap(([, names, kinds]) => {
    const all = [...names.matchAll(/`(\w+)`/g)].map(([, name]) => name);
    // A required secret is `secret, required`.
    return kinds.split(", ")[0] === "secret" ? all : [];
  });
  assert.deepEqual([...SECRETS].sort(), documented.sort());
});

test("the check names a secret among the variables and where to move it, without its value", async () => {
  const variables = SECRETS.map((name) => `${name} = "${VALUE}"\n`).join("");
  writeFileSync(configFile, template.replace("[vars]\n", `[vars]\n${variables}`));
  const { problems } = await checkConfig({ configFile });
  const named = problems.filter(({ message }) => message.startsWith("is a secret"));
  const names = named.map(({ name }) => name);
  assert.deepEqual(names, [...SECRETS]);
  const advice = "take it out of wrangler.toml and use wrangler secret put ADMIN_API_KEY";
  assert.equal(named[0].message, `is a secret: ${advice}`);
  const all = problems.map(({ name }) => name);
  assert.equal(new Set(all).size, all.length, "a problem is listed twice");
  assert.ok(!JSON.stringify(problems).includes(VALUE));
});

test("the check finds a secret in an environment, whichever environment it checks", async (t) => {
  const staging = `[env.staging.vars]\nACCESS_TOKEN_SECRET = "${VALUE}-${VALUE}"`;
  writeFileSync(configFile, `${template}\n${staging}\n[env.production]\n`);
  const message =
    "is a secret: take it out of [env.staging.vars] of wrangler.toml and use " +
    "wrangler secret put ACCESS_TOKEN_SECRET --env staging";
  for (const env of [undefined, "staging", "production"]) {
    const { problems } = await checkConfig({ configFile, env });
    const found = problems.filter(({ name }) => name === "ACCESS_TOKEN_SECRET");
    assert.deepEqual(found, [{ name: "ACCESS_TOKEN_SECRET", message }]);
  }

  t.after(() => delete process.env.CLOUDFLARE_ENV);
  process.env.CLOUDFLARE_ENV = "staging";
  const top = template.replace("[vars]\n", `[vars]\nADMIN_API_KEY = "${VALUE}"\n`);
  writeFileSync(configFile, `${top}\n[env.staging]\n`);
  for (const env of [undefined, "", "staging"]) {
    const { problems } = await checkConfig({ configFile, env });
    const names = problems.map(({ name }) => name);
    assert.ok(names.includes("ADMIN_API_KEY"), `the secret with ${env}`);
    // Only the environment has no Durable Objects.
    assert.equal(names.includes("durable_objects"), env !== "", `the environment with ${env}`);
  }
});
