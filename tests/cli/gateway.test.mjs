/** The command line against the gateway in workerd and the simulated Mintlify API. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { PROJECT, startGate } from "../gateway/recorded_gateway.mjs";
import { makeFolder } from "../harness/folder.mjs";
import { assertFailed, runCommand } from "./command_line.mjs";

const PAGES = 2600;
const SCOPES =
  "jobs:create jobs:read analytics:read deployments:create deployments:read automations:run";
const RANGE = ["--from", "2026-01-01", "--to", "2026-01-08"];
let gate;
const folder = makeFolder({ after }, "cli-gateway");
let env;

before(async () => {
  const vars = { ARCHIVE_PROJECTS: PROJECT, JOB_POLL_SECONDS: "1", JOB_POLLS_PER_HOUR: "100000" };
  gate = await startGate("cli", {
    upstream: { pages: PAGES, jobDurationMs: 200, deploymentDurationMs: 200 },
    gateway: { archive: true, vars },
  });
  // Mint the token with the command that operators use.
  const args = ["token", "mint", "--sub", "alice", "--project", PROJECT, "--scope", SCOPES];
  const minted = await runCommand(args, { env: { ACCESS_TOKEN_SECRET: gate.secret } });
  assert.equal(minted.code, 0, minted.stderr);
  env = {
    ...{ QUILLGATE_BASE_URL: gate.gateway.url, QUILLGATE_PROJECT_ID: PROJECT },
    ...{ QUILLGATE_TOKEN: minted.stdout.trim(), XDG_CONFIG_HOME: folder },
  };
});
after(() => gate?.stop());

const quillgate = (args, options = {}) => runCommand(args, { env, folder, ...options });

async function succeed(args) {
  const result = await quillgate(args);
  assert.equal(result.code, 0, result.stdout + result.stderr);
  return result;
}

test("the doctor finds no problem with a gateway, and finds a rejected token", async () => {
  const { stdout } = await succeed(["doctor"]);
  assert.match(stdout, /^ok +budget +analytics: \d+ of 100 requests left$/m);
  const refused = { ...env, QUILLGATE_TOKEN: `${env.QUILLGATE_TOKEN.slice(0, -4)}AAAA` };
  const { code: problemCode, stdout: found } = await quillgate(["doctor"], { env: refused });
  assert.equal(problemCode, 10, found);
  assert.match(found, /PROBLEM +jobs:read +the gateway answers 401/);
});

test("creates a job, waits for it, lists it and sends it a message", async () => {
  const created = await succeed(["job", "create", "--wait", "Document the new endpoint"]);
  const [id, link] = created.stdout.split("\n");
  assert.match(link, /^https:\/\/.*\/pull\/\d+$/);
  const { stdout: list } = await quillgate(["job", "list", "--json"]);
  assert.ok(JSON.parse(list).some((job) => job.id === id && job.status === "completed"));
  await succeed(["job", "message", id, "Add an example", "--wait"]);
  const watched = await succeed(["job", "watch", id]);
  assert.ok(watched.stdout.endsWith(`completed ${link}\n`), watched.stdout);
});

test("deploys, previews branches, and lists and shows what was started", async () => {
  const deployed = await succeed(["deploy", "--wait"]);
  assert.match(deployed.stderr, /is live/);
  await gate.upstream.queueCourse("fail");
  const failed = await quillgate(["preview", "docs/new#1", "--wait"]);
  assert.equal(failed.code, 7, failed.stderr);
  await gate.upstream.queueCourse("live-failure");
  const warned = await succeed(["preview", "docs-é", "--wait"]);
  assert.match(warned.stderr, /is live, but a later step failed/);
  const [id, url] = warned.stdout.split("\n");
  assert.match(url, /^https:\/\//);
  const { stdout } = await quillgate(["deployment", "list", "--json"]);
  const listed = JSON.parse(stdout).map(({ branch, isLive }) => [branch, isLive]);
  assert.deepEqual(listed, [
    ["docs-é", true],
    ["docs/new#1", false],
    [null, true],
  ]);
  const shown = await quillgate(["deployment", "show", id]);
  assert.match(shown.stdout, /^live +yes$/m);
  assert.equal((await quillgate(["deployment", "show", "nope"])).code, 4);
});

test("runs an automation once for a key", async () => {
  const args = ["automation", "run", "weekly", "--idempotency-key", "release-42"];
  const first = await succeed(args);
  assert.notEqual(first.stdout.trim(), "");
  assert.equal((await quillgate(args)).stdout, first.stdout);
  assert.equal((await gate.upstream.automationRuns()).length, 1);
  assert.equal((await quillgate(["automation", "run", "unknown-1"])).code, 4);
});

test("archive commands report missing days and a missing scope", async () => {
  const status = await succeed(["archive", "status"]);
  assert.match(status.stdout, /^days held +\d+$/m);
  const daily = await succeed(["daily", ...RANGE, "--json"]);
  assert.deepEqual(JSON.parse(daily.stdout), []);
  assert.match(daily.stderr, /7 days are not in the archive/);
  // The token lacks the scope.
  const plan = await quillgate(["archive", "plan", "--from", "2026-01-01"]);
  assertFailed(plan, 3, /gateway:operate|scope/);
});
