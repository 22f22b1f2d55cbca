import assert from "node:assert/strict";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { init } from "../../gateway/dist/tools/init.js";
import { ROOT } from "../../scripts/versions.mjs";
import { makeFolder } from "../harness/folder.mjs";
import { cannotReadAsStranger, STRANGER } from "../harness/stranger.mjs";

const FILES = [".dev.vars.example", ".gitignore", "README.md", "package.json", "wrangler.toml"];
const home = makeFolder({ after }, "init");

const read = (...path) => readFileSync(join(...path), "utf8");
const readJson = (...path) => JSON.parse(read(...path));
const OWN = readJson(ROOT, "gateway", "package.json");

test("init writes a folder that depends on exactly this version of the gateway", async () => {
  const options = { directory: join(home, "Docs Gateway"), project: "acme-docs", archive: false };
  const { directory, files } = await init(options);
  assert.deepEqual([...files].sort(), FILES);
  assert.deepEqual(readdirSync(directory).sort(), FILES);

  const manifest = readJson(directory, "package.json");
  assert.equal(manifest.dependencies["quillgate-gateway"], OWN.version);
  assert.equal(`^${manifest.devDependencies.wrangler}`, OWN.peerDependencies.wrangler);
  assert.deepEqual(Object.keys(manifest.scripts), ["check", "deploy", "dev"]);

  const config = read(directory, "wrangler.toml");
  assert.match(config, /^name = "docs-gateway"$/m);
  assert.match(config, /^main = "node_modules\/quillgate-gateway\/dist\/index\.js"$/m);
  assert.match(config, /^# \[\[d1_databases\]\]$/m);
  assert.doesNotMatch(config, /ARCHIVE_PROJECTS/);

  const readme = read(directory, "README.md");
  assert.equal(readme.match(/^\d\. \*\*/gm).length, 5, "the README does not have five steps");
  assert.match(readme, /--project acme-docs /);
  assert.match(read(directory, ".gitignore"), /^\.dev\.vars\*$/m);
});

test("init --archive adds the database, the cron trigger and the project", async () => {
  const directory = join(home, "with-archive");
  await init({ directory, project: "acme", archive: true });
  const config = read(directory, "wrangler.toml");
  for (const line of [
    "[[d1_databases]]",
    'binding = "ARCHIVE"',
    'migrations_dir = "node_modules/quillgate-gateway/dist/migrations"',
    "[triggers]",
    'crons = ["*/10 * * * *"]',
    'ARCHIVE_PROJECTS = "acme"',
  ]) {
    assert.ok(config.split("\n").includes(line), `${line} in\n${config}`);
  }
  assert.match(read(directory, "README.md"), /wrangler d1 create quillgate-archive/);
  const { deploy } = readJson(directory, "package.json").scripts;
  const command = "wrangler d1 migrations apply ARCHIVE --remote";
  assert.match(deploy, new RegExp(`check && ${command} && wrangler deploy$`));
});

test("init prompts for missing options and uses the default for an empty answer", async () => {
  const asked = [];
  const { directory } = await init({
    directory: join(home, "asked"),
    prompt: async (question, defaultAnswer) => {
      asked.push(defaultAnswer);
      return question.startsWith("Project") ? " acme " : defaultAnswer;
    },
  });
  assert.deepEqual(asked, [undefined, "no"]);
  assert.match(read(directory, "README.md"), /--project acme /);
  assert.doesNotMatch(read(directory, "wrangler.toml"), /^\[\[d1_databases\]\]$/m);
});

for (const file of [...FILES, "wrangler.json", "wrangler.jsonc"]) {
  test(`init rejects a folder with ${file} and leaves it unchanged`, async () => {
    const directory = join(home, `has-${file}`);
    mkdirSync(directory);
    writeFileSync(join(directory, file), "existing content");
    const error = { name: "InitError", message: new RegExp(`already has ${file}`) };
    await assert.rejects(init({ directory, project: "acme", archive: false }), error);
    assert.deepEqual(readdirSync(directory), [file]);
    assert.equal(read(directory, file), "existing content");
  });
}

test("init needs no permission for the parent of an existing folder", {
  skip: cannotReadAsStranger(join(ROOT, "gateway", "dist", "template", "wrangler.toml")),
}, async (t) => {
  const directory = join(home, "read-only", "gateway");
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "notes.md"), "existing content");
  for (const path of [home, directory]) chmodSync(path, 0o755);
  chownSync(directory, STRANGER, STRANGER);
  process.seteuid(STRANGER);
  t.after(() => process.seteuid(0));
  await init({ directory, project: "acme", archive: false });
  assert.deepEqual(readdirSync(directory).sort(), [...FILES, "notes.md"].sort());

  for (const file of FILES) rmSync(join(directory, file));
  process.seteuid(0);
  chownSync(directory, 0, 0);
  process.seteuid(STRANGER);
  const error = { code: "EACCES" };
  await assert.rejects(init({ directory, project: "acme", archive: false }), error);
  const inside = join(directory, "new", "gateway");
  await assert.rejects(init({ directory: inside, project: "acme", archive: false }), error);
  assert.deepEqual(readdirSync(directory), ["notes.md"]);
});

test("init without a project and without a prompt writes nothing", async () => {
  const directory = join(home, "silent");
  await assert.rejects(init({ directory }), { name: "InitError", message: /--project/ });
  assert.throws(() => readdirSync(directory), { code: "ENOENT" });
});

test("the gateway package depends on the version of wrangler that the tests use", () => {
  const { devDependencies } = readJson(ROOT, "package.json");
  assert.equal(OWN.peerDependencies.wrangler, `^${devDependencies.wrangler}`);
});

test("both npm packages have the same version", () => {
  const { version } = readJson(ROOT, "pkg", "package.json");
  assert.equal(OWN.version, version);
});
