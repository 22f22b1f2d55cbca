/** The check of a gateway's configuration, with the repository's wrangler. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { checkConfig } from "../../gateway/dist/tools/check.js";
import { init } from "../../gateway/dist/tools/init.js";
import { SECRETS } from "../../gateway/dist/tools/secrets.js";
import { ROOT } from "../../scripts/versions.mjs";

const VALUE = "hunter2-of-the-operator";
let home;
let configFile;
let template;

before(async () => {
  home = mkdtempSync(join(tmpdir(), "quillgate-check-"));
  const directory = join(home, "my-gateway");
  await init({ directory, project: "acme", archive: false });
  configFile = join(directory, "wrangler.toml");
  template = readFileSync(configFile, "utf8");
});
after(() => rmSync(home, { recursive: true, force: true }));
beforeEach(() => writeFileSync(configFile, template));

const addVariables = (lines) =>
  writeFileSync(
    configFile,
    template.replace("[vars]\n", () => `[vars]\n${lines}\n`),
  );
const addEnvironments = (lines) => writeFileSync(configFile, `${template}\n${lines}\n`);

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
  addVariables(SECRETS.map((name) => `${name} = "${VALUE}"`).join("\n"));
  const { problems } = await checkConfig({ configFile });
  const named = problems.filter(({ message }) => message.startsWith("is a secret"));
  assert.deepEqual(
    named.map(({ name }) => name),
    [...SECRETS],
  );
  assert.equal(
    named[0].message,
    "is a secret: take it out of wrangler.toml and use wrangler secret put ADMIN_API_KEY",
  );
  assert.equal(
    new Set(problems.map(({ name }) => name)).size,
    problems.length,
    "a problem is listed twice",
  );
  assert.ok(!JSON.stringify(problems).includes(VALUE));
});

test("the check accepts secrets in a file", async () => {
  const secretsFile = join(home, "secrets.env");
  const secret = "a-secret-with-more-than-32-bytes-in-it";
  writeFileSync(secretsFile, `ADMIN_API_KEY=mint_key\nACCESS_TOKEN_SECRET=${secret}\n`);
  assert.deepEqual((await checkConfig({ configFile, secretsFile })).problems, []);
  const text = readFileSync(secretsFile, "utf8");
  writeFileSync(secretsFile, `\ufeff${text}`);
  assert.deepEqual((await checkConfig({ configFile, secretsFile })).problems, []);
  writeFileSync(secretsFile, Buffer.from(`\ufeff${text}`, "utf16le"));
  await assert.rejects(checkConfig({ configFile, secretsFile }), /secrets\.env is not UTF-8/);
});

test("the check finds a secret in an environment, whichever environment it checks", async () => {
  addEnvironments(
    `[env.staging.vars]\nACCESS_TOKEN_SECRET = "${VALUE}-${VALUE}"\n[env.production]`,
  );
  const message =
    "is a secret: take it out of [env.staging.vars] of wrangler.toml and use " +
    "wrangler secret put ACCESS_TOKEN_SECRET --env staging";
  for (const env of [undefined, "staging", "production"]) {
    const { problems } = await checkConfig({ configFile, env });
    const found = problems.filter(({ name }) => name === "ACCESS_TOKEN_SECRET");
    assert.deepEqual(found, [{ name: "ACCESS_TOKEN_SECRET", message }]);
  }
});

test("the check names what an upgrade lacks in wrangler.toml", async () => {
  const findProblems = async () => {
    const { problems } = await checkConfig({ configFile });
    return problems.map(({ name, message }) => `${name} ${message}`);
  };
  assert.ok(template.includes('"enable_request_signal", '), template);
  writeFileSync(configFile, template.replace('"enable_request_signal", ', ""));
  assert.deepEqual(await findProblems(), ["compatibility_flags lacks enable_request_signal"]);

  addVariables('ARCHIVE_PROJECTS = "acme"');
  const [database, triggers, ...others] = await findProblems();
  assert.match(database, /^d1_databases lacks the binding ARCHIVE/);
  assert.match(triggers, /^triggers lacks crons/);
  assert.deepEqual(others, []);
});

test("the check quotes wrangler when the configuration is invalid", async () => {
  writeFileSync(configFile, template.replace("[vars]", "[vars"));
  await assert.rejects(checkConfig({ configFile }), {
    name: "CheckError",
    message: /wrangler\.toml cannot be read: ./,
  });
});

test("the check lists the existing environments when the given one is missing", async () => {
  const checkError = (message) => ({ name: "CheckError", message });
  const check = () => checkConfig({ configFile, env: "stagign" });
  await assert.rejects(check(), checkError("wrangler.toml has no such environment; it has none"));
  addEnvironments('[env.staging]\nname = "a"\n[env.production]\nname = "b"');
  await assert.rejects(
    check(),
    checkError("wrangler.toml has no such environment; there are staging, production"),
  );
});

test("the check reports a missing wrangler.toml before a missing wrangler", async () => {
  await assert.rejects(checkConfig({ configFile: join(home, "empty", "wrangler.toml") }), {
    name: "CheckError",
    message: /^there is no .*wrangler\.toml$/,
  });
});
