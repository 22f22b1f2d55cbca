/** `doctor --live`: the consent, the requests, the judged facts and the redaction of the report. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { canaryKey } from "../harness/canary.mjs";
import { makeFolder } from "../harness/folder.mjs";
import { startUpstream } from "../harness/upstream.mjs";
import { queryOf, startScriptedServer } from "../package/scripted_server.mjs";
import { assertFailed, runCommand } from "./command_line.mjs";
import { NO_TERMINAL, startInTerminal } from "./terminal.mjs";

const PROJECT = "canary-project";
const KEY = "mint_CanaryCanaryCanary2222";
const NOT_JSON = { headers: { "content-type": "text/html" }, text: "<h1>canary</h1>" };
/** The response to a request; `undefined` for that of {@link respondLive}. */
let override;
let server;
const folder = makeFolder({ after }, "live");

before(async () => {
  server = await startScriptedServer((received) => override?.(received) ?? respondLive(received));
});
after(() => server.stop());

/** Responds with the shapes that users observed. A string of a reader contains "canary". */
function respondLive(received) {
  const { pathname } = new URL(received.path, "http://x");
  const report = pathname.split("/").slice(4).join("/");
  const cursor = queryOf(received).get("cursor");
  if (pathname.startsWith("/v2/")) {
    const prLink = "https://git.canary.example/canary/docs/-/merge_requests/7";
    const source = { repository: "https://git.canary.example/canary/docs", ref: "canary" };
    const createdAt = "2026-11-27 1:2";
    return { json: { id: "canary", status: "completed", source, prLink, createdAt } };
  }
  if (report === "searches" && cursor !== null) {
    if (queryOf(received).has("dateFrom")) return { status: 414, ...NOT_JSON };
    return { json: { searches: [], totalSearches: 30, nextCursor: null } };
  }
  return { headers: { "x-canary": "canary" }, json: REPORTS[report] };
}

const searches = Array.from({ length: 30 }, (_, at) => ({
  searchQuery: "canary term".slice(0, 3 + (at % 9)) + at,
  ...{ hits: 100 - at, ctr: (at * 7) % 100 },
  ...{ topClickedPage: "/canary", lastSearchedAt: "2026-11-27 22:30:00" },
}));
const REPORTS = {
  views: {
    totals: { human: 1, ai: 1, total: 2 },
    views: [{ path: "/canary/page", human: 1, ai: 1, total: 2, canary_secret: { "/canary": 1 } }],
    hasMore: false,
    byPage: { canary: { canary: "canary" }, "/canary": 1 },
  },
  feedback: {
    feedback: [
      { id: "canary-1", path: "https://canary.example/a", comment: "canary", createdAt: null },
      { id: "canary-2", path: "canary", contact: "canary@canary.example", status: "canary" },
    ],
    nextCursor: null,
    hasMore: false,
  },
  "feedback/by-page": { feedback: [], hasMore: false },
  searches: {
    searches: [{ ...searches[0], searchQuery: "canary" }, ...searches],
    totalSearches: 31,
    nextCursor: "https://api.canary.example/searches?limit=100&cursor=canary%2B1",
  },
  assistant: {
    conversations: [1, 2].map((at) => ({
      ...{ id: "01J9Z3K4M5N6P7Q8R9S0CANARY", timestamp: `2026-11-0${at}T00:00:00+02:00` },
      ...{ query: "agent", response: "canary", sources: [], feedback: "positive" },
    })),
    nextCursor: null,
    hasMore: false,
  },
  "assistant/caller-stats": { web: 1, api: 0.5, other: 0, total: 1 },
};

async function runLive(args = ["--yes"], { baseUrl = server.url, key = KEY, ...options } = {}) {
  server.requests.length = 0;
  const env = { QUILLGATE_ADMIN_KEY: key, QUILLGATE_PROJECT_ID: PROJECT, ...options.env };
  const words = ["doctor", "--live", "--base-url", baseUrl, ...args];
  return runCommand(words, { folder, ...options, env });
}

async function judge(args = [], options) {
  const { code, stdout, stderr } = await runLive(["--yes", "--json", ...args], options);
  const { facts, responses } = JSON.parse(stdout);
  const verdicts = Object.fromEntries(facts.map(({ text, verdict }) => [text, verdict]));
  return { code, stderr, facts, verdicts, responses };
}

test("the report judges each fact by responses with the shapes that users observed", async () => {
  const { code, verdicts, facts } = await judge(["--job", "canary"]);
  assert.equal(code, 0);
  const texts = (wanted) => Object.keys(verdicts).filter((text) => verdicts[text] === wanted);
  assert.deepEqual(texts("contradicted"), [
    "a project id has 24 hexadecimal digits",
    "times of conversations are in UTC and say so",
    "times of searches are in UTC and say so",
    "caller stats are integers",
    "rows have only the documented properties",
    "`createdAt` of a job is in UTC and says so",
  ]);
  assert.deepEqual(texts("not seen"), [
    "a plan without the operation gets 401, and `error` asks for an upgrade",
    "a site that does not collect feedback gets empty reports",
    "times of feedback are in UTC and say so",
    "header fields name rate limits",
    "a job that does not exist gets 404 with `error`",
  ]);
  const { found } = facts.find(({ section }) => section === "4.8.1");
  assert.equal(found, "from 0.0 to 98.0 in 31 rows");
});

test("the requests are eight GETs to the named server, and one more after a 414", async () => {
  const { responses } = await judge();
  const { requests } = server;
  assert.equal(requests.length, 9);
  for (const { method, headers } of requests) {
    assert.deepEqual([method, headers.authorization], ["GET", `Bearer ${KEY}`]);
  }
  const cursors = requests.map((received) => queryOf(received).get("cursor")).filter(Boolean);
  assert.deepEqual(cursors, ["canary+1", "canary+1"], "the parameter of the URL");
  assert.equal(responses.length, 9);
  for (const { milliseconds } of responses) assert.equal(milliseconds % 100, 0);
});

test("the report has no value of a response, and neither the project nor the key", async () => {
  for (const args of [[], ["--json"], ["--job", "canary-job"]]) {
    const { code, stdout } = await runLive(["--yes", ...args]);
    assert.equal(code, 0);
    // A header field and a property have names that Mintlify chose.
    const named = stdout.replaceAll("x-canary", "").replaceAll("canary_secret", "");
    assert.doesNotMatch(named, /canary|“agent”/i);
    assert.ok(!stdout.includes(new URL(server.url).port));
  }
});

test("a report goes to a file, and only messages to the terminal", async () => {
  const { stdout, stderr } = await runLive(["--yes", "-o", "shapes.md"]);
  assert.equal(stdout, "");
  assert.match(stderr, /^ {2}GET \/v1\/analytics\/canary-project\/views\?limit=50&dateFrom=/m);
  assert.match(stderr, /9 requests, \d+ facts contradicted/);
  const report = readFileSync(join(folder, "shapes.md"), "utf8");
  assert.match(report, /^\| confirmed \| 4\.8\.1 \| `ctr` is a percentage/m);
  assert.match(report, /^\| `feedback\[\]\.path` \| URL, text \|$/m);
  assert.match(report, /^\| `conversations\[\]\.feedback` \| “positive” \|$/m);
});

describe("faults", () => {
  for (const [what, response, text, verdict, count] of [
    [
      "a plan without the API",
      { status: 401, json: { error: "canary: please upgrade" } },
      "a plan without the operation gets 401, and `error` asks for an upgrade",
      ...["confirmed", 1],
    ],
    [
      "a blocking network",
      { status: 403, ...NOT_JSON },
      "the network in front of Mintlify lets quillgate's User-Agent pass",
      ...["contradicted", 7],
    ],
    ["a limit", { status: 429, text: "canary" }, "header fields name rate limits", "not seen", 1],
    ["a closed connection", { cut: true }, "`ctr` is a percentage from 0 to 100", "not seen", 1],
  ]) {
    test(`${what} is reported and exits with 10`, async () => {
      override = () => response;
      const { code, verdicts, stderr } = await judge();
      override = undefined;
      assert.equal(code, 10);
      assert.equal(verdicts[text], verdict, JSON.stringify(verdicts));
      assert.equal(server.requests.length, count, stderr);
    });
  }
});

describe("consent", () => {
  for (const [what, args, options, message] of [
    ["without a terminal", [], {}, /--yes is required/],
    ["in CI", [], { columns: 80, isInputTerminal: true, env: { CI: "true" } }, /--yes is required/],
    ["with --json", ["--json"], { columns: 80, isInputTerminal: true }, /--yes is required/],
    ["over http", ["--yes"], { baseUrl: "http://mintlify.example" }, /not https/],
    ["without an admin key", ["--yes"], { key: "" }, /needs Mintlify's admin key/],
  ]) {
    test(`no request is sent ${what}`, async () => {
      assertFailed(await runLive(args, options), 2, message);
      assert.equal(server.requests.length, 0);
    });
  }

  test("the flags of --live are rejected without it", async () => {
    for (const args of [["--yes"], ["--job", "x"], ["-o", "x"]]) {
      assertFailed(await runCommand(["doctor", ...args]), 2, /needs --live/);
    }
  });

  test("a terminal shows the requests and asks", { skip: NO_TERMINAL }, async () => {
    server.requests.length = 0;
    const env = { QUILLGATE_ADMIN_KEY: KEY, QUILLGATE_PROJECT_ID: PROJECT };
    const args = ["doctor", "--live", "--base-url", server.url];
    for (const [answer, count, code] of [
      ["\r", 0, 2],
      ["y\r", 9, 0],
    ]) {
      const terminal = startInTerminal(args, { env, folder, columns: 200 });
      await terminal.waitForScreen(/GET \/v1.*Send these requests\? \(y\/N\)/s);
      assert.equal(server.requests.length, 0);
      terminal.press(answer);
      assert.equal(await terminal.ended, code, terminal.raw());
      assert.equal(server.requests.length, count);
    }
  });
});

describe("the simulator", () => {
  let upstream;
  const key = canaryKey();
  before(async () => {
    upstream = await startUpstream({ key, pages: 60, projects: [PROJECT] });
  });
  after(() => upstream?.stop());

  test("its report has none of its paths, terms, comments, contacts and ids", async () => {
    const { code, stdout, stderr } = await runLive(["--yes"], { baseUrl: upstream.url, key });
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^\| confirmed \| 4\.9 \| ids of conversations are ULIDs/m);
    const values = new Set();
    const collect = (value) => {
      if (typeof value === "string") values.add(value);
      else if (value !== null && typeof value === "object") Object.values(value).forEach(collect);
    };
    const reports = ["views", "feedback", "searches", "assistant"];
    for (const report of reports) collect(await upstream.report({ report, projectId: PROJECT }));
    // The report may contain words of the enumerations, and short terms such as "id" by chance.
    const long = [...values].filter((value) => value.length > 12 && !/^[a-z_]+$/.test(value));
    assert.ok(long.length > 500, `${long.length} values`);
    for (const value of [...long, key, PROJECT]) assert.ok(!stdout.includes(value), value);
  });
});
