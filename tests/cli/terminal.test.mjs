/** The program in a real terminal: progress, Ctrl-C, --resume and exit codes, as the screen shows them. */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { runCommand } from "./command_line.mjs";
import { budgetFields, PROJECT, problem, startStandIn } from "./stand_in.mjs";
import { startInTerminal } from "./terminal.mjs";

const ROWS = 2600;
const CTRL_C = "\u0003";
const RANGE = ["--from", "2026-01-01", "--to", "2026-02-01"];
let server;
let folder;
let instead;
/** The terminals of a test. */
const started = [];

before(async () => {
  server = await startStandIn({ rows: ROWS, instead: (...args) => instead?.(...args) });
});
after(() => server.stop());
beforeEach(() => {
  instead = undefined;
  server.requests.length = 0;
  server.refillBudget();
  folder = mkdtempSync(join(tmpdir(), "quillgate-terminal-"));
});
afterEach(() => {
  for (const running of started.splice(0)) running.kill();
  rmSync(folder, { recursive: true, force: true });
});

const env = () => ({
  ...{ QUILLGATE_BASE_URL: server.url, QUILLGATE_PROJECT_ID: PROJECT, QUILLGATE_TOKEN: "token" },
  XDG_CONFIG_HOME: folder,
});

function start(args, options) {
  const running = startInTerminal(args, { env: env(), folder, ...options });
  started.push(running);
  return running;
}

const read = (name) => readFileSync(join(folder, name), "utf8");

/** Lets requests be answered but for those from a number on, which wait for ever. */
function stallFrom(number) {
  instead = (_, at) => (at >= number ? { stall: "head" } : undefined);
}

test("Ctrl-C leaves a file that --resume completes, byte for byte", async () => {
  const whole = await runCommand(["views", ...RANGE, "-o", "whole.csv"], { env: env(), folder });
  assert.equal(whole.code, 0);
  server.requests.length = 0;
  server.refillBudget();

  stallFrom(3);
  const args = ["views", ...RANGE, "-o", "views.csv"];
  const stopped = start(args);
  await stopped.shows(/^views: 750 rows in 3 requests, 97 left \[=? *\] \d:\d\d$/m);
  await server.arrived(4);
  stopped.press(CTRL_C);
  assert.equal(await stopped.ended, 130);
  assert.deepEqual(stopped.screen().map(removeEcho), [
    "quillgate: interrupted",
    "  to complete views.csv: the same command with --resume",
    "",
  ]);
  assert.ok(existsSync(join(folder, "views.csv.quillgate-cursor")));

  instead = undefined;
  server.requests.length = 0;
  const resumed = start([...args, "--resume"]);
  assert.equal(await resumed.ended, 0);
  assert.deepEqual(resumed.screen(), ["views: 2,600 rows in 8 requests, 89 left", ""]);
  assert.ok(read("views.csv") === read("whole.csv"));
  assert.ok(!existsSync(join(folder, "views.csv.quillgate-cursor")));
});

/** The terminal echoes a key that is pressed. */
function removeEcho(line) {
  return line.replace(/^\^C/, "");
}

test("Ctrl-C twice ends it at once, whatever it does", async () => {
  const place = join(folder, "node_modules", "quillgate-gateway");
  mkdirSync(place, { recursive: true });
  writeFileSync(
    join(place, "package.json"),
    '{"type":"module","exports":{"./check":"./check.js"}}',
  );
  const source = `process.stderr.write("deaf\\n");
    export const checkConfig = () => new Promise(() => setInterval(() => {}, 1000));`;
  writeFileSync(join(place, "check.js"), source);
  const running = start(["config", "check"]);
  await running.shows(/^deaf$/m);
  const ended = running.ended.then(() => "ended");
  // The first has been taken note of when another one ends it: two at once can be one signal.
  while ((await Promise.race([ended, delay(50)])) !== "ended") running.press(CTRL_C);
  assert.equal(await running.ended, 130);
  assert.ok(!running.raw().includes("quillgate: interrupted"), "it did not end in order");
});

test("a prompt is typed, and Ctrl-D is its end", async () => {
  const running = start(["job", "create", "-"]);
  await running.shows(/type the prompt, and Ctrl-D at its end/);
  running.press("Document it\n\u0004");
  assert.equal(await running.ended, 0);
  assert.equal(JSON.parse(server.requests[0].body).prompt, "Document it\n");
  const interrupted = start(["job", "create", "-"]);
  await interrupted.shows(/Ctrl-D/);
  interrupted.press(CTRL_C);
  assert.equal(await interrupted.ended, 130);
  assert.equal(server.requests.length, 1);
});

test("init asks on the terminal for what no flag says", async () => {
  const place = join(folder, "node_modules", "quillgate-gateway");
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, "package.json"), '{"type":"module","exports":{"./init":"./init.js"}}');
  const source = `export async function init({ directory, prompt }) {
    const answers = [await prompt("Project id:"), await prompt("Archive?", "no")];
    return { directory, files: answers };
  }`;
  writeFileSync(join(place, "init.js"), source);
  const running = start(["init", "my-gateway"]);
  await running.shows(/^Project id: $/m);
  running.press("acme\n");
  await running.shows(/^Archive\? \[no\] $/m);
  running.press("\n");
  assert.equal(await running.ended, 0);
  assert.match(running.screen().join("\n"), /^wrote acme, no\nnext: cd my-gateway/m);

  const interrupted = start(["init", "my-gateway"]);
  await interrupted.shows(/^Project id: $/m);
  interrupted.press(CTRL_C);
  assert.equal(await interrupted.ended, 130);
});

test("a table has a bar of its rows with the time that is left, and then is all there is", async () => {
  stallFrom(2);
  const args = ["views", ...RANGE, "--rows", "1000"];
  const running = start(args);
  await running.shows(/^views: 500 rows in 2 requests, 98 left \[={10} {10}\] \d:\d\d left$/m);
  running.press(CTRL_C);
  assert.equal(await running.ended, 130);

  instead = undefined;
  const done = start(["views", ...RANGE, "--rows", "3"], { columns: 60 });
  assert.equal(await done.ended, 0);
  assert.deepEqual(done.screen(), [
    "PATH                    HUMAN  AI  TOTAL",
    '/guides/0, "so" to say      0   0      0',
    '/guides/1, "so" to say      1   2      3',
    '/guides/2, "so" to say      2   4      6',
    "views: 3 rows in 1 request, 97 left",
    "there may be more rows: --rows N, or --format csv",
    "",
  ]);
});

test("a spent budget is counted down", async () => {
  const refusal = problem(429, "rate-limited", "none left", {
    ...budgetFields(0, 90),
    "retry-after": "90",
  });
  instead = (_, number) => (number >= 1 ? refusal : undefined);
  const running = start(["views", ...RANGE, "--wait", "1h", "-o", "views.csv"]);
  await running.shows(/^views: 250 rows in 2 requests, 0 left \[={20}\] waiting, 1:(30|29) left$/m);
  running.press(CTRL_C);
  assert.equal(await running.ended, 130);
  assert.match(running.screen().join("\n"), /--resume/);
});

test("a line of progress is never longer than the terminal", async () => {
  stallFrom(3);
  const running = start(["views", ...RANGE, "-o", "views.csv"], { columns: 30 });
  await running.shows(/^views: 750 rows in 3 requests$/m);
  running.press(CTRL_C);
  await running.ended;
});

test("with standard error elsewhere nothing is drawn, and --quiet draws nothing", async () => {
  const elsewhere = start(["views", ...RANGE, "-o", "views.csv"], { redirect: "2>log" });
  assert.equal(await elsewhere.ended, 0);
  assert.equal(elsewhere.raw(), "");
  assert.equal(
    read("log"),
    "views: 2,500 rows in 10 requests, 90 left\nviews: 2,600 rows in 11 requests, 89 left\n",
  );
  const quiet = start(["views", ...RANGE, "-o", "views.csv", "--quiet"]);
  assert.equal(await quiet.ended, 0);
  assert.equal(quiet.raw(), "");
});

test("a job is waited for with the time that is left, until Ctrl-C", async () => {
  instead = ({ path }) => (path.endsWith("/events") ? { stall: "head" } : undefined);
  const running = start(["job", "watch", "job_1", "--timeout", "10m"]);
  await running.shows(/^job job_1 \[ {20}\] (10:00|9:5\d) left$/m);
  running.press(CTRL_C);
  assert.equal(await running.ended, 130);
  assert.match(running.screen().join("\n"), /the job goes on; .*quillgate job watch job_1\n$/);
});

for (const [what, args, code] of [
  ["done", ["job", "watch", "job_1"], 0],
  ["wrong use", ["views", "--lats"], 2],
  ["no such job", ["job", "watch", "job_9"], 4],
  ["a failed job", ["job", "watch", "job_2"], 7],
  ["an empty credential", ["job", "list", "--token-file", "/dev/null"], 2],
  ["a finding", ["doctor"], 10],
]) {
  test(`the exit code of ${what} is ${code}`, async () => {
    const running = start(args);
    assert.equal(await running.ended, code, running.raw());
  });
}

test("what reads the output may leave early", async () => {
  const running = start(["views", ...RANGE, "--format", "csv", "--quiet"], {
    redirect: "| head -n 1",
  });
  assert.equal(await running.ended, 0);
  assert.deepEqual(running.screen(), ["\uFEFFpath,human,ai,total", ""]);
});
