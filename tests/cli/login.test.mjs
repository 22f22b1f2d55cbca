/** Profiles of the command line. */

import assert from "node:assert/strict";
import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { assertFailed, runCommand } from "./command_line.mjs";
import { folder, respondWith, server, useStandIn } from "./session.mjs";
import { PROJECT, problem, startStandIn } from "./stand_in.mjs";
import { NO_TERMINAL, startInTerminal } from "./terminal.mjs";

const TOKEN = "a-token-of-the-user";
let profiles;
let other;

useStandIn();
before(async () => {
  other = await startStandIn();
});
after(() => other.stop());
beforeEach(() => {
  profiles = join(folder, "quillgate", "profiles");
  other.requests.length = 0;
});

const quillgate = (args, { env = {}, ...options } = {}) =>
  runCommand(args, { folder, env: { XDG_CONFIG_HOME: folder, ...env }, ...options });
const loginAt = ({ url }) => ["login", "--base-url", url, "--project", PROJECT];
const login = (args = [], options = {}) =>
  quillgate([...loginAt(server), ...args], { input: `${TOKEN}\n`, ...options });
const readTokens = ({ requests }) => requests.map(({ headers }) => headers.authorization);

test("login stores a profile that only the user can read, and prints no token", async () => {
  const { code, stdout, stderr } = await login();
  assert.equal(code, 0, stderr);
  const path = join(profiles, "default.json");
  assert.equal(stderr, `quillgate: profile default is stored in ${path}\n`);
  assert.ok(!`${stdout}${stderr}`.includes(TOKEN));
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.equal(statSync(profiles).mode & 0o777, 0o700);
  assert.deepEqual(readdirSync(profiles), ["default.json"]);
  const stored = { baseUrl: server.url, projectId: PROJECT, token: TOKEN };
  assert.deepEqual(JSON.parse(readFileSync(path, "utf8")), stored);
  assert.deepEqual(readTokens(server), [`Bearer ${TOKEN}`]);
  const json = await login(["--json"]);
  const properties = Object.keys(JSON.parse(json.stdout));
  assert.deepEqual(properties, ["profile", "baseUrl", "projectId", "file"]);
});

test("commands use the stored default profile", async () => {
  await login();
  server.requests.length = 0;
  const { code, stderr } = await quillgate(["job", "list"]);
  assert.equal(code, 0, stderr);
  assert.deepEqual(readTokens(server), [`Bearer ${TOKEN}`]);
});

test("login stores nothing if the gateway rejects the token", async () => {
  respondWith(() => problem(401, "invalid-token", "the signature is wrong"));
  const { code, stdout, stderr } = await login();
  assert.equal(code, 3);
  assert.ok(!`${stdout}${stderr}`.includes(TOKEN));
  assert.ok(!existsSync(profiles));
});

test("login rejects an admin key before it sends a request", async () => {
  const refused = await login([], { input: "mint_of_the_user" });
  assertFailed(refused, 2, /stdin is Mintlify's admin key/);
  assert.equal(server.requests.length, 0);
});

test("--profile and QUILLGATE_PROFILE select a profile instead of variables and files", async () => {
  await login();
  await quillgate([...loginAt(other), "--profile", "second"], { input: "second-token" });
  for (const { requests } of [server, other]) requests.length = 0;
  const variables = { QUILLGATE_BASE_URL: server.url, QUILLGATE_TOKEN: "from-a-variable" };
  await quillgate(["job", "list", "--profile", "second"], { env: variables });
  await quillgate(["job", "list"], { env: { ...variables, QUILLGATE_PROFILE: "second" } });
  assert.deepEqual(readTokens(other), ["Bearer second-token", "Bearer second-token"]);
  assert.equal(server.requests.length, 0);
});

test("the token of the default profile never goes to another gateway", async () => {
  await login();
  server.requests.length = 0;
  const env = { QUILLGATE_BASE_URL: other.url, QUILLGATE_PROJECT_ID: PROJECT };
  assertFailed(await quillgate(["job", "list"], { env }), 2, /no credential/);
  const flag = await quillgate(["job", "list", "--profile", "default", "--base-url", other.url]);
  assert.match(flag.stderr, /--base-url cannot be combined with a profile/);
  assert.equal(other.requests.length, 0);
});

test("logout deletes the profile", async () => {
  await login();
  assert.equal((await quillgate(["logout"])).code, 0);
  assert.deepEqual(readdirSync(profiles), []);
  assertFailed(await quillgate(["logout"]), 2, /there is no profile default/);
});

test("a profile can be a link to a file elsewhere, which login writes and logout deletes", async () => {
  await login();
  const [link, target] = [join(profiles, "default.json"), join(folder, "linked.json")];
  renameSync(link, target);
  symlinkSync(target, link);
  await login();
  assert.ok(lstatSync(link).isSymbolicLink());
  assert.equal((await quillgate(["logout"])).code, 0);
  assert.deepEqual([existsSync(target), readdirSync(profiles)], [false, []]);
});

test("login on a terminal does not echo the token", { skip: NO_TERMINAL }, async (t) => {
  const running = startInTerminal(loginAt(server), { folder, env: { XDG_CONFIG_HOME: folder } });
  t.after(() => running.kill());
  await running.waitForScreen(/Access token \(not shown\):/);
  running.press(`${TOKEN}\r`);
  assert.equal(await running.ended, 0, running.raw());
  assert.ok(!running.raw().includes(TOKEN.slice(0, 5)), running.raw());
  assert.equal(JSON.parse(readFileSync(join(profiles, "default.json"), "utf8")).token, TOKEN);
});
