/** The commands for the gateway's archive. */
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { runCommand } from "./command_line.mjs";
import { PROJECT, problem, startStandIn } from "./stand_in.mjs";

const RANGE = ["--from", "2026-01-01", "--to", "2026-02-01"];
let server;
let override;

before(async () => {
  server = await startStandIn({ override: (...args) => override?.(...args) });
});
after(() => server.stop());
beforeEach(() => {
  override = undefined;
  server.requests.length = 0;
});

function quillgate(args, folder = "/") {
  const env = {
    ...{ QUILLGATE_BASE_URL: server.url, QUILLGATE_PROJECT_ID: PROJECT, QUILLGATE_TOKEN: "token" },
  };
  return runCommand(args, { env, folder });
}

test("daily writes every page of the series in each format and warns about missing days", async () => {
  const { code, stdout, stderr } = await quillgate(["daily", ...RANGE, "--format", "table"]);
  assert.equal(code, 0, stderr);
  assert.equal(
    stdout,
    [
      "DATE        HUMAN  AI  TOTAL  VISITORS  DAYS  MISSING",
      "2026-01-01  1,200  34  1,234        11     1        0",
      "2026-01-02  1,200  34  1,234         -     1        0",
      "",
    ].join("\n"),
  );
  assert.match(stderr, /1 day is not in the archive/);
  const { stdout: json } = await quillgate(["daily", ...RANGE, "--json"]);
  const rows = JSON.parse(json);
  assert.deepEqual(
    rows.map(({ date }) => date),
    ["2026-01-01", "2026-01-02"],
  );
  const { stdout: ndjson } = await quillgate(["daily", ...RANGE]);
  assert.deepEqual(ndjson.trimEnd().split("\n").map(JSON.parse), rows);
  const { stdout: csv } = await quillgate(["daily", ...RANGE, "--format", "csv"]);
  assert.equal(
    csv,
    [
      "\ufeffdate,human,ai,total,days,missing,visitors.human,visitors.ai,visitors.total",
      "2026-01-01,1200,34,1234,1,[],5,6,11",
      "2026-01-02,1200,34,1234,1,[],,,",
      "",
    ].join("\r\n"),
  );
});

test("without dates, the archive's days end with yesterday and are 27", async () => {
  for (const command of [["archive", "views"], ["daily"]]) {
    server.requests.length = 0;
    await quillgate([...command, "--format", "csv"]);
    const query = new URL(server.requests[0].path, server.url).searchParams;
    const [from, to] = ["dateFrom", "dateTo"].map((name) => query.get(name));
    assert.equal(to, new Date().toISOString().slice(0, 10));
    assert.equal(Date.parse(to) - Date.parse(from), 27 * 86_400_000);
  }
});

test("archive status lists stored, missing and failing days", async () => {
  const { code, stdout } = await quillgate(["archive", "status"]);
  assert.equal(code, 0);
  assert.match(stdout, /^days held +28$/m);
  assert.match(stdout, /^missing: from 2026-01-03 to before 2026-01-05$/m);
  assert.match(stdout, /^fails: 2026-01-03, storage \(2 attempts, again at 2026-02-01T/m);
  const { stdout: json } = await quillgate(["archive", "status", "--json"]);
  assert.equal(JSON.parse(json).bytes, 12345);
});

test("archive plan sends a GET request, which starts no backfill", async () => {
  const { code, stdout } = await quillgate(["archive", "plan", "--from", "2026-01-01"]);
  assert.equal(code, 0);
  assert.match(stdout, /^hours +never: the archive's share/m);
  const [{ method, path }] = server.requests;
  assert.equal(method, "GET");
  assert.match(path, /\/views\/daily\/backfill\?dateFrom=2026-01-01$/);
});

test("archive backfill needs --yes, sends a POST request and prints the estimate", async () => {
  const args = ["archive", "backfill", "--from", "2026-01-01"];
  const refused = await quillgate(args);
  assert.deepEqual([refused.code, server.requests.length], [2, 0]);
  assert.match(refused.stderr, /--yes is required/);
  const { code, stdout } = await quillgate([...args, "--yes"]);
  assert.equal(code, 0);
  assert.match(stdout, /^first day +2026-01-01$/m);
  const [{ method, path, body }] = server.requests;
  assert.equal(method, "POST");
  assert.match(path, /\/views\/daily\/backfill$/);
  assert.equal(body, '{"dateFrom":"2026-01-01"}');
});

test("archive plan warns when retention moves the first day", async () => {
  const plan = (from) => quillgate(["archive", "plan", "--from", from]);
  const { code, stdout, stderr } = await plan("2020-01-01");
  assert.equal(code, 0);
  assert.match(stdout, /^first day +2026-01-01$/m);
  assert.match(stderr, /keeps no day before the first one \(ARCHIVE_RETENTION_DAYS\)/);
  assert.equal((await plan("2026-01-01")).stderr, "");
});

test("errors point to the doctor only when the response explains nothing", async () => {
  for (const [status, detail, isHinted] of [
    [401, "the access token has expired", false],
    [401, "the access token has been revoked", false],
    [401, "the access token is signed by another secret", true],
    [403, "the token does not allow analytics:read on this project", false],
    [501, "a D1 database has to be bound as ARCHIVE", false],
    [503, "the gateway's storage is unavailable right now", true],
  ]) {
    override = () => problem(status, "refused", detail);
    const { stderr } = await quillgate(["archive", "status"]);
    assert.ok(stderr.includes(detail), stderr);
    assert.equal(stderr.includes("quillgate doctor"), isHinted, stderr);
  }
  override = () => ({ status: 403, text: "<html>" });
  assert.match((await quillgate(["archive", "status"])).stderr, /quillgate doctor/);
});
