/** Where settings come from, and what none of them may do. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { readSettings } from "../../pkg/dist/cli/settings.js";
import { runCommand } from "./command_line.mjs";
import { startStandIn } from "./stand_in.mjs";

const LIST = ["job", "list", "--json"];
let server;
let other;
let root;
let folder;
let home;

before(async () => {
  [server, other] = await Promise.all([startStandIn(), startStandIn()]);
});
after(() => Promise.all([server.stop(), other.stop()]));
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "quillgate-settings-"));
  [folder, home] = ["folder", "home"].map((name) => join(root, name));
  mkdirSync(folder);
  for (const { requests } of [server, other]) requests.length = 0;
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const quillgate = (args, options = {}) => runCommand(args, { folder, home, ...options });

function write(path, content) {
  mkdirSync(dirname(path), { recursive: true });
  const text = typeof content === "string" ? content : JSON.stringify(content);
  writeFileSync(path, text);
  return path;
}

const userFile = () => join(home, ".config", "quillgate", "config.json");
const inFolder = (name) => join(folder, name);
const variables = (more = {}) => ({
  QUILLGATE_BASE_URL: server.url,
  QUILLGATE_PROJECT_ID: "of-variable",
  QUILLGATE_TOKEN: "token-of-variable",
  ...more,
});

/** What the only request was: to whom, for which project, with which credential. */
function readOnlyRequest() {
  const requests = [server, other].flatMap((own) =>
    own.requests.map(({ path, headers }) => ({ own, path, headers })),
  );
  assert.equal(requests.length, 1);
  const [{ own, path, headers }] = requests;
  const project = /^\/v2\/agent\/([^/]+)\//.exec(path)[1];
  return { url: own.url, project, token: headers.authorization.replace("Bearer ", "") };
}

test("a flag goes before a variable, a variable before a file", async () => {
  write(userFile(), { baseUrl: other.url, projectId: "of-file", tokenFile: "token" });
  write(join(dirname(userFile()), "token"), "token-of-file\n");
  await quillgate(LIST);
  assert.deepEqual(readOnlyRequest(), {
    url: other.url,
    project: "of-file",
    token: "token-of-file",
  });

  for (const { requests } of [server, other]) requests.length = 0;
  await quillgate(LIST, { env: variables() });
  const ofVariable = { url: server.url, project: "of-variable", token: "token-of-variable" };
  assert.deepEqual(readOnlyRequest(), ofVariable);

  server.requests.length = 0;
  write(inFolder("secret"), "token-of-flag");
  const flags = ["--project", "of-flag", "--base-url", other.url, "--token-file", "secret"];
  await quillgate([...flags, ...LIST], { env: variables() });
  assert.deepEqual(readOnlyRequest(), {
    url: other.url,
    project: "of-flag",
    token: "token-of-flag",
  });
});

test("a token comes from standard input, or from the file that a variable names", async () => {
  await quillgate([...LIST, "--token-file", "-"], { env: variables(), input: "token-of-input\n" });
  assert.equal(readOnlyRequest().token, "token-of-input");
  server.requests.length = 0;
  write(inFolder("secret"), "token-of-the-file\n");
  const env = variables({ QUILLGATE_TOKEN: "", QUILLGATE_TOKEN_FILE: "secret" });
  await quillgate(LIST, { env });
  assert.equal(readOnlyRequest().token, "token-of-the-file");
});

test("standard input is a prompt or a credential, and not both", async () => {
  const args = ["job", "create", "-", "--token-file", "-"];
  const { code, stderr } = await quillgate(args, { env: variables(), input: "x" });
  assert.equal(code, 2);
  assert.match(stderr, /standard input cannot be both a prompt and a credential/);
});

test("the folder's file says which project, and the user's own where and with what", async () => {
  write(userFile(), { baseUrl: server.url, tokenFile: "token" });
  write(join(dirname(userFile()), "token"), "token-of-file");
  write(inFolder("quillgate.json"), { projectId: "of-folder" });
  await quillgate(LIST);
  assert.deepEqual(readOnlyRequest(), {
    url: server.url,
    project: "of-folder",
    token: "token-of-file",
  });
});

for (const setting of [{ baseUrl: "https://evil.example" }, { tokenFile: "/etc/hostname" }]) {
  const [name] = Object.keys(setting);
  test(`the folder's file does not say ${name}, unless it is named`, async () => {
    write(inFolder("quillgate.json"), { projectId: "of-folder", ...setting });
    const { code, stderr } = await quillgate(LIST, { env: variables() });
    assert.equal(code, 2);
    assert.match(stderr, new RegExp(`quillgate.json says ${name}`));
    assert.equal(server.requests.length, 0);
  });
}

test("a file that is named replaces both, and may say everything", async () => {
  write(userFile(), { baseUrl: other.url, projectId: "of-user" });
  const path = write(join(root, "named", "mine.json"), {
    ...{ baseUrl: server.url, projectId: "of-named", tokenFile: "token" },
  });
  write(join(root, "named", "token"), "token-beside-it");
  const expected = { url: server.url, project: "of-named", token: "token-beside-it" };
  await quillgate(["--config", path, ...LIST]);
  assert.deepEqual(readOnlyRequest(), expected);
  server.requests.length = 0;
  await quillgate(LIST, { env: { QUILLGATE_CONFIG: path } });
  assert.deepEqual(readOnlyRequest(), expected);
  const { stderr } = await quillgate([...LIST, "--config", "none.json"]);
  assert.match(stderr, /there is no settings file none.json/);
});

test("XDG_CONFIG_HOME moves the user's file", async () => {
  write(join(root, "xdg", "quillgate", "config.json"), { projectId: "of-xdg" });
  const env = { ...variables({ XDG_CONFIG_HOME: join(root, "xdg") }), QUILLGATE_PROJECT_ID: "" };
  await quillgate(LIST, { env });
  assert.equal(readOnlyRequest().project, "of-xdg");
});

const SECRET = "a-secret-of-the-user";
for (const [what, content, message] of [
  ["a secret", { token: SECRET }, /holds token: put it in a file of its own/],
  ["an admin key", { adminKey: SECRET }, /holds adminKey: put it in a file of its own/],
  ["a setting that is none", { baseURL: SECRET }, /there is no setting baseURL/],
  ["what is no text", { projectId: 5 }, /projectId must be a text/],
  ["a list", [], /must be a JSON object/],
  ["no JSON", SECRET, /is not JSON/],
]) {
  test(`a settings file that holds ${what} is refused`, async () => {
    write(userFile(), content);
    const { code, stderr } = await quillgate(LIST, { env: variables() });
    assert.equal(code, 2);
    assert.match(stderr, message);
    assert.ok(!stderr.includes(SECRET));
  });
}

for (const [what, value] of [
  ["empty", " \n"],
  ["several lines", `${SECRET}\n${SECRET}`],
  ["no ASCII", `${SECRET}é`],
  ["quoted", `"${SECRET}"`],
  ["of two words", `${SECRET} ${SECRET}`],
]) {
  test(`a credential that is ${what} is refused, and not repeated`, async () => {
    write(inFolder("secret"), value);
    const args = [...LIST, "--token-file", "secret"];
    const { code, stderr } = await quillgate(args, { env: variables() });
    assert.equal(code, 2);
    assert.match(stderr, /secret (is empty|holds no credential)/);
    assert.ok(!stderr.includes(SECRET));
  });
}

test("a place has one credential", async () => {
  const env = variables({ QUILLGATE_ADMIN_KEY: "mint_x" });
  const { code, stderr } = await quillgate(LIST, { env });
  assert.equal(code, 2);
  assert.match(stderr, /the environment has an access token and an admin key/);
});

test("an admin key goes where a flag says, and not where a variable or a file does", async () => {
  write(inFolder("key"), "mint_of_the_user");
  const env = variables({ QUILLGATE_BASE_URL: other.url });
  const flags = ["--admin-key-file", "key", "--base-url", server.url];
  await quillgate([...LIST, ...flags], { env });
  assert.deepEqual(readOnlyRequest().url, server.url);
  assert.equal(readOnlyRequest().token, "mint_of_the_user");
});

test("an admin key without such a flag goes to the platform, whatever a variable or a file says", async () => {
  write(userFile(), { baseUrl: other.url });
  const env = { QUILLGATE_ADMIN_KEY: "mint_of_the_user", QUILLGATE_BASE_URL: other.url };
  const host = { env, folder, home, signal: new AbortController().signal };
  const { baseUrl, credential } = await readSettings({ host, values: {} });
  assert.deepEqual([baseUrl, credential.kind], [undefined, "adminKey"]);
});

test("what only a gateway has is not asked of the platform", async () => {
  write(inFolder("key"), "mint_of_the_user");
  const args = ["archive", "status", "--admin-key-file", "key"];
  const { code, stderr } = await quillgate(args, { env: variables() });
  assert.equal(code, 2);
  assert.match(stderr, /archive status needs a gateway/);
  assert.equal(server.requests.length, 0);
});

for (const [missing, message] of [
  ["QUILLGATE_BASE_URL", /no gateway: set --base-url/],
  ["QUILLGATE_PROJECT_ID", /no project: set --project/],
  ["QUILLGATE_TOKEN", /no credential: set QUILLGATE_TOKEN/],
]) {
  test(`without ${missing} it says how to set it`, async () => {
    const { code, stderr } = await quillgate(LIST, { env: variables({ [missing]: "" }) });
    assert.equal(code, 2);
    assert.match(stderr, message);
  });
}

test("without any setting it says so of each, and names the doctor", async () => {
  const { code, stderr } = await quillgate(LIST.slice(0, 2), { env: {} });
  assert.equal(code, 2);
  assert.match(stderr, /no gateway: .*no project: .*no credential: /);
  assert.match(stderr, /quillgate doctor/);
});

test("an admin key in the place of a token is not sent", async () => {
  const { code, stderr } = await quillgate(LIST, {
    env: variables({ QUILLGATE_TOKEN: "mint_of_the_user" }),
  });
  assert.equal(code, 2);
  assert.match(stderr, /QUILLGATE_TOKEN holds the platform's admin key/);
  assert.ok(!stderr.includes("mint_of"));
  assert.equal(server.requests.length, 0);
});

test("a token that goes unencrypted is warned of, but not on this machine", async () => {
  const list = LIST.slice(0, 2);
  const env = variables({ QUILLGATE_BASE_URL: "http://gate.invalid" });
  const { stderr } = await quillgate(list, { env });
  assert.match(stderr, /^quillgate: the base URL is not https: the token goes unencrypted/);
  const { stderr: archive } = await quillgate(["archive", "status"], { env });
  assert.match(archive, /the token goes unencrypted/);
  const { stderr: json } = await quillgate([...list, "--json"], { env });
  assert.match(JSON.parse(json.split("\n")[0]).warning.message, /the token goes unencrypted/);
  const { stderr: own } = await quillgate(list, { env: variables() });
  assert.ok(!own.includes("unencrypted"), own);
  const https = variables({ QUILLGATE_BASE_URL: "https://gate.invalid" });
  assert.ok(!(await quillgate(list, { env: https })).stderr.includes("unencrypted"));
});
