/** The commands for the gateway's archive. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertFailed } from "./command_line.mjs";
import { quillgate, read, readJson, respondWith, server, succeed, useStandIn } from "./session.mjs";
import { problem } from "./stand_in.mjs";

const RANGE = ["--from", "2026-01-01", "--to", "2026-02-01"];

useStandIn();

test("daily writes every page of the series in each format and warns about missing days", async () => {
  const { stdout, stderr } = await succeed(["daily", ...RANGE, "--format", "table"]);
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
  const rows = await readJson(["daily", ...RANGE]);
  const dates = rows.map(({ date }) => date);
  assert.deepEqual(dates, ["2026-01-01", "2026-01-02"]);
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

test("archive views writes every page in each format and warns about missing days", async () => {
  const args = ["archive", "views", ...RANGE];
  const { stdout, stderr } = await succeed([...args, "--format", "table", "--rows", "2"]);
  assert.equal(
    stdout,
    [
      "PATH                    HUMAN  AI  TOTAL",
      '/guides/3, "so" to say      3   6      9',
      '/guides/2, "so" to say      2   4      6',
      "",
    ].join("\n"),
  );
  assert.match(stderr, /2 of 3 pages/);
  assert.match(stderr, /1 day is not in the archive/);
  const rows = await readJson(args);
  const totals = rows.map(({ total }) => total);
  assert.deepEqual(totals, [3, 6, 9]);
  const { stdout: ndjson } = await quillgate(args);
  assert.deepEqual(ndjson.trimEnd().split("\n").map(JSON.parse), rows);
  const written = await quillgate([...args, "-o", "views.csv"]);
  assert.deepEqual([written.code, written.stdout], [0, ""], written.stderr);
  const begin = '\ufeffpath,human,ai,total\r\n"/guides/1, ""so""\nto say",1,2,3\r\n';
  assert.ok(read("views.csv").startsWith(begin), read("views.csv"));
  assert.match(written.stderr, /1 day is not in the archive/);
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

test("a range that begins today names the flags that the archive needs", async () => {
  const today = new Date().toISOString().slice(0, 10);
  for (const range of [
    ["--last", "1d"],
    ["--from", today],
  ]) {
    const failed = await quillgate(["archive", "views", ...range]);
    assertFailed(failed, 2, /--last 2d or more, or an earlier --from/);
  }
});

test("archive status lists stored, missing and failing days", async () => {
  const { stdout } = await succeed(["archive", "status"]);
  assert.match(stdout, /^days held +28$/m);
  assert.match(stdout, /^missing: from 2026-01-03 to before 2026-01-05$/m);
  assert.match(stdout, /^fails: 2026-01-03, storage \(2 attempts, again at 2026-02-01T/m);
  assert.equal((await readJson(["archive", "status"])).bytes, 12345);
});

test("archive plan sends a GET request, which starts no backfill", async () => {
  const { stdout } = await succeed(["archive", "plan", "--from", "2026-01-01"]);
  assert.match(stdout, /^hours +never: the archive's share/m);
  const [{ method, path }] = server.requests;
  assert.equal(method, "GET");
  assert.match(path, /\/views\/daily\/backfill\?dateFrom=2026-01-01$/);
});

test("archive backfill needs --yes, sends a POST request and prints the estimate", async () => {
  const args = ["archive", "backfill", "--from", "2026-01-01"];
  assertFailed(await quillgate(args), 2, /--yes is required/);
  assert.equal(server.requests.length, 0);
  const { stdout } = await succeed([...args, "--yes"]);
  assert.match(stdout, /^first day +2026-01-01$/m);
  const [{ method, path, body }] = server.requests;
  assert.equal(method, "POST");
  assert.match(path, /\/views\/daily\/backfill$/);
  assert.equal(body, '{"dateFrom":"2026-01-01"}');
});

test("archive plan warns when retention moves the first day", async () => {
  const plan = (from) => succeed(["archive", "plan", "--from", from]);
  const { stdout, stderr } = await plan("2020-01-01");
  assert.match(stdout, /^first day +2026-01-01$/m);
  assert.match(stderr, /keeps no day before the first one \(ARCHIVE_RETENTION_DAYS\)/);
  assert.equal((await plan("2026-01-01")).stderr, "");
});

test("maps refusals to exit codes and follows no redirect", async () => {
  for (const [status, code] of [
    [400, 2],
    [403, 3],
    [404, 4],
    [501, 6],
  ]) {
    respondWith(() => problem(status, "refused", "not for you"));
    assertFailed(await quillgate(["archive", "status"]), code, /not for you/);
  }
  server.requests.length = 0;
  respondWith(() => ({ status: 302, headers: { location: `${server.url}/elsewhere` } }));
  assert.notEqual((await quillgate(["archive", "status"])).code, 0);
  assert.equal(server.requests.length, 1, "the token was sent to the redirect's target");
});
