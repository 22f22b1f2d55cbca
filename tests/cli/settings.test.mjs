/** Settings from flags, variables and files. */
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { findConfigFolder } from "../../pkg/dist/cli/profile.js";
import { readSettings } from "../../pkg/dist/cli/settings.js";
import { assertFailed, runCommand } from "./command_line.mjs";
import { folder, server, useStandIn } from "./session.mjs";
import { startStandIn } from "./stand_in.mjs";

const LIST = ["job", "list", "--json"];
let other;
let home;

useStandIn();
before(async () => {
  other = await startStandIn();
});
after(() => other.stop());
beforeEach(() => {
  home = join(folder, "home");
  other.requests.length = 0;
});

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
  QUILLGATE_PROJECT_ID: "from-variable",
  QUILLGATE_TOKEN: "token-from-variable",
  ...more,
});

function readOnlyRequest() {
  const received = [server, other].flatMap(({ url, requests }) =>
    requests.map((request) => ({ ...request, url })),
  );
  assert.equal(received.length, 1);
  const [{ url, path, headers }] = received;
  const project = /^\/v2\/agent\/([^/]+)\//.exec(path)[1];
  return { url, project, token: headers.authorization.replace("Bearer ", "") };
}

function assertSent(url, project, token) {
  assert.deepEqual(readOnlyRequest(), { url, project, token });
}

test("flags override variables, and variables override files", async () => {
  write(userFile(), { baseUrl: other.url, projectId: "from-file", tokenFile: "token" });
  write(join(dirname(userFile()), "token"), "token-from-file\n");
  await quillgate(LIST);
  assertSent(other.url, "from-file", "token-from-file");

  for (const { requests } of [server, other]) requests.length = 0;
  await quillgate(LIST, { env: variables() });
  assertSent(server.url, "from-variable", "token-from-variable");

  server.requests.length = 0;
  write(inFolder("secret"), "token-from-flag");
  const flags = ["--project", "from-flag", "--base-url", other.url, "--token-file", "secret"];
  await quillgate([...flags, ...LIST], { env: variables() });
  assertSent(other.url, "from-flag", "token-from-flag");
});

test("reads the token from standard input or from the file that a variable names", async () => {
  const input = "token-from-input\n";
  await quillgate([...LIST, "--token-file", "-"], { env: variables(), input });
  assert.equal(readOnlyRequest().token, "token-from-input");
  server.requests.length = 0;
  write(inFolder("secret"), "token-from-the-file\n");
  const env = variables({ QUILLGATE_TOKEN: "", QUILLGATE_TOKEN_FILE: "secret" });
  await quillgate(LIST, { env });
  assert.equal(readOnlyRequest().token, "token-from-the-file");
});

test("rejects standard input as both the prompt and the credential", async () => {
  const args = ["job", "create", "-", "--token-file", "-"];
  const refused = await quillgate(args, { env: variables(), input: "x" });
  assertFailed(refused, 2, /standard input cannot be both a credential and a prompt/);
});

test("reads the project from the folder's file, and the rest from the user's file", async () => {
  write(userFile(), { baseUrl: server.url, tokenFile: "token" });
  write(join(dirname(userFile()), "token"), "token-from-file");
  write(inFolder("quillgate.json"), { projectId: "from-folder" });
  await quillgate(LIST);
  assertSent(server.url, "from-folder", "token-from-file");
});

for (const setting of [{ baseUrl: "https://evil.example" }, { tokenFile: "/etc/hostname" }]) {
  const [name] = Object.keys(setting);
  test(`rejects ${name} in the folder's file unless --config names the file`, async () => {
    write(inFolder("quillgate.json"), { projectId: "from-folder", ...setting });
    const refused = await quillgate(LIST, { env: variables() });
    assertFailed(refused, 2, new RegExp(`quillgate.json must not set ${name}`));
    assert.equal(server.requests.length, 0);
  });
}

const SECRET = "a-secret-of-the-user";
test("rejects a settings file with a secret, an unknown setting or a wrong type", async () => {
  for (const [content, message] of [
    [{ token: SECRET }, /contains token: move it to another file/],
    [{ adminKey: SECRET }, /contains adminKey: move it to another file/],
    [{ baseURL: SECRET }, /there is no setting baseURL/],
    [{ projectId: 5 }, /projectId must be a non-empty string/],
    [[], /must be a JSON object/],
    [SECRET, /is not JSON/],
  ]) {
    write(userFile(), content);
    const refused = await quillgate(LIST, { env: variables() });
    assertFailed(refused, 2, message);
    assert.ok(!refused.stderr.includes(SECRET));
  }
});

for (const [name, value] of [
  ["without a character", " \n"],
  ["with several lines", `${SECRET}\n${SECRET}`],
  ["with a character outside of ASCII", `${SECRET}é`],
  ["in quotes", `"${SECRET}"`],
  ["with a space", `${SECRET} ${SECRET}`],
]) {
  test(`rejects a credential ${name} without repeating it`, async () => {
    write(inFolder("secret"), value);
    const args = [...LIST, "--token-file", "secret"];
    const refused = await quillgate(args, { env: variables() });
    assertFailed(refused, 2, /secret (is empty|is not a credential)/);
    assert.ok(!refused.stderr.includes(SECRET));
  });
}

test("rejects two credentials in the environment", async () => {
  const env = variables({ QUILLGATE_ADMIN_KEY: "mint_x" });
  const refused = await quillgate(LIST, { env });
  assertFailed(refused, 2, /the environment has both an access token and an admin key/);
});

test("sends an admin key to the URL of a flag, but not to that of a variable", async () => {
  write(inFolder("key"), "mint_of_the_user");
  const env = variables({ QUILLGATE_BASE_URL: other.url });
  const flags = ["--admin-key-file", "key", "--base-url", server.url];
  await quillgate([...LIST, ...flags], { env });
  assert.deepEqual(readOnlyRequest().url, server.url);
  assert.equal(readOnlyRequest().token, "mint_of_the_user");
});

test("sends an admin key to Mintlify unless a flag names another URL", async () => {
  write(userFile(), { baseUrl: other.url });
  const env = { QUILLGATE_ADMIN_KEY: "mint_of_the_user", QUILLGATE_BASE_URL: other.url };
  const host = { env, folder, home, signal: new AbortController().signal };
  const { baseUrl, credential } = await readSettings({ host, values: {} });
  assert.deepEqual([baseUrl, credential.kind], [undefined, "adminKey"]);
});

for (const [missing, message] of [
  ["QUILLGATE_BASE_URL", /no gateway: run quillgate login, or set --base-url/],
  ["QUILLGATE_PROJECT_ID", /no project: set --project/],
  ["QUILLGATE_TOKEN", /no credential: run quillgate login, or set QUILLGATE_TOKEN/],
]) {
  test(`explains how to set a missing ${missing}`, async () => {
    assertFailed(await quillgate(LIST, { env: variables({ [missing]: "" }) }), 2, message);
  });
}

test("never sends an admin key that was given as a token", async () => {
  const env = variables({ QUILLGATE_TOKEN: "mint_of_the_user" });
  const refused = await quillgate(LIST, { env });
  assertFailed(refused, 2, /QUILLGATE_TOKEN is Mintlify's admin key/);
  assert.ok(!refused.stderr.includes("mint_of"));
  assert.equal(server.requests.length, 0);
});

test("sends the token unencrypted to another machine only if a variable allows it", async () => {
  const list = LIST.slice(0, 2);
  const env = variables({ QUILLGATE_BASE_URL: "http://gate.invalid" });
  const refused = await quillgate(list, { env });
  assertFailed(refused, 2, /^quillgate: baseUrl must be https, or http on this machine/);
  assert.match(refused.stderr, /QUILLGATE_ALLOW_PLAIN_HTTP=1/);
  const allowed = await quillgate(list, { env: { ...env, QUILLGATE_ALLOW_PLAIN_HTTP: "1" } });
  assert.match(allowed.stderr, /gate\.invalid cannot be resolved/);
});

test("the folder of the user's settings is never relative to the current folder", () => {
  const OS = "Windows_NT";
  for (const [env, home, expected] of [
    [{ XDG_CONFIG_HOME: "/etc/me" }, "/home/me", "/etc/me"],
    [{ XDG_CONFIG_HOME: "." }, "/home/me", "/home/me/.config"],
    [{ XDG_CONFIG_HOME: "~/.config" }, "/home/me", "/home/me/.config"],
    [{ XDG_CONFIG_HOME: "" }, "/home/me", "/home/me/.config"],
    [{ XDG_CONFIG_HOME: "x", APPDATA: "/appdata", OS }, "/home/me", "/appdata"],
    [{ APPDATA: "appdata", OS }, "/home/me", "/home/me/.config"],
    [{ APPDATA: "/appdata" }, "/home/me", "/home/me/.config"],
    [{ XDG_CONFIG_HOME: "." }, ".", undefined],
    [{}, undefined, undefined],
  ]) {
    const folder = expected && join(expected, "quillgate");
    assert.equal(findConfigFolder({ env, home }), folder, JSON.stringify(env));
  }
});
