/** What the check says of a folder's configuration, with the repository's wrangler. */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { checkConfig } from "../../gateway/dist/tools/check.js";
import { init } from "../../gateway/dist/tools/init.js";
import { SECRETS } from "../../gateway/dist/tools/secrets.js";
import { capture } from "../../scripts/child.mjs";
import { ROOT } from "../../scripts/versions.mjs";

const COMMAND = join(ROOT, "gateway", "dist", "tools", "command.js");
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

test("the configuration that init writes has nothing wrong", async () => {
  assert.deepEqual((await checkConfig({ configFile })).problems, []);
});

test("the secrets are those that the documentation calls nothing else", () => {
  const text = readFileSync(join(ROOT, "docs", "deploy.md"), "utf8");
  const rows = [...text.matchAll(/^\| (`[A-Z].*?) \| ([a-z][^|]*) \| /gm)];
  const documented = rows.flatMap(([, names, kinds]) => {
    const all = [...names.matchAll(/`(\w+)`/g)].map(([, name]) => name);
    // `A`, `B` | secret, var: each has its own kind; but "secret, required" is one.
    const each = kinds.split(", ").filter((kind) => kind !== "required");
    return all.filter((_, at) => (each[at] ?? each[0]) === "secret");
  });
  assert.deepEqual([...SECRETS].sort(), documented.sort());
});

test("a secret among the variables is named, with where it belongs and without its value", async () => {
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
  assert.equal(new Set(problems.map(({ name }) => name)).size, problems.length, "each once");
  assert.ok(!JSON.stringify(problems).includes(VALUE));
});

test("a file of secrets may hold them", async () => {
  const secretsFile = join(home, "secrets.env");
  const secret = "a-secret-with-more-than-32-bytes-in-it";
  writeFileSync(secretsFile, `ADMIN_API_KEY=mint_key\nACCESS_TOKEN_SECRET=${secret}\n`);
  assert.deepEqual((await checkConfig({ configFile, secretsFile })).problems, []);
});

test("a secret of an environment is found from the top level and in the environment", async () => {
  addEnvironments(`[env.staging.vars]\nACCESS_TOKEN_SECRET = "${VALUE}-${VALUE}"`);
  const message =
    "is a secret: take it out of [env.staging.vars] of wrangler.toml and use " +
    "wrangler secret put ACCESS_TOKEN_SECRET --env staging";
  for (const env of [undefined, "staging"]) {
    const { problems } = await checkConfig({ configFile, env });
    const found = problems.filter(({ name }) => name === "ACCESS_TOKEN_SECRET");
    assert.deepEqual(found, [{ name: "ACCESS_TOKEN_SECRET", message }]);
  }
});

test("an environment that is not there is refused, and those there are named", async () => {
  const refusal = (message) => ({ name: "CheckError", message });
  const check = () => checkConfig({ configFile, env: "stagign" });
  await assert.rejects(check(), refusal("wrangler.toml has no such environment; it has none"));
  addEnvironments('[env.staging]\nname = "a"\n[env.production]\nname = "b"');
  await assert.rejects(
    check(),
    refusal("wrangler.toml has no such environment; there are staging, production"),
  );
});

const run = (...args) => capture(process.execPath, [COMMAND, ...args], { cwd: home });

test("every command has help, and none does anything for it", async () => {
  for (const args of [["--help"], ["-h"], ["help"]]) {
    const { code, stdout } = await run(...args);
    assert.equal(code, 0);
    for (const command of ["init", "check", "webhook-key"]) assert.match(stdout, RegExp(command));
  }
  for (const command of ["init", "check", "webhook-key"]) {
    for (const args of [
      [command, "--help"],
      [command, "-h"],
      ["help", command],
    ]) {
      const { code, stdout, stderr } = await run(...args);
      assert.deepEqual([code, stderr], [0, ""]);
      assert.ok(stdout.startsWith(`usage: quillgate-gateway ${command} `), stdout);
    }
  }
});

test("an archive and none is refused, and writes nothing", async () => {
  const { code, stderr } = await run("init", "both", "--project=p", "--archive", "--no-archive");
  assert.equal(code, 2);
  assert.match(stderr, /--archive and --no-archive contradict each other/);
  assert.ok(!existsSync(join(home, "both")));
});

test("a folder without a configuration is named, before wrangler is looked for", async () => {
  const empty = join(home, "empty");
  mkdirSync(empty);
  const { code, stderr } = await capture(process.execPath, [COMMAND, "check"], { cwd: empty });
  assert.equal(code, 1);
  assert.equal(stderr, `quillgate-gateway: there is no wrangler.toml in ${empty}\n`);
  await assert.rejects(checkConfig({ configFile: join(empty, "wrangler.toml") }), {
    name: "CheckError",
    message: /^there is no .*wrangler\.toml$/,
  });
});
