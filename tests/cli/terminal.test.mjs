/** The command line in a real terminal: prompts, progress, Ctrl-C, --resume and exit codes. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { installGatewayPackage, startSession } from "./session.mjs";
import { NO_TERMINAL, startInTerminal } from "./terminal.mjs";

const ROWS = 2600;
const CTRL_C = "\u0003";
const RANGE = ["--from", "2026-01-01", "--to", "2026-02-01"];
const CONCURRENCY = 4;

async function setUp(t) {
  const session = await startSession(t, ROWS);
  const { env, folder, respondWith } = session;
  const started = [];
  t.after(() => {
    for (const running of started) running.kill();
  });
  return {
    ...session,
    /** Sends no response from this request on. Requests are counted from 0. */
    stallFrom(number) {
      respondWith((_, at) => (at >= number ? { stall: "head" } : undefined));
    },
    start(args, options) {
      const running = startInTerminal(args, { env, folder, ...options });
      started.push(running);
      return running;
    },
  };
}

describe("the command line in a terminal", { concurrency: CONCURRENCY, skip: NO_TERMINAL }, () => {
  test("a second Ctrl-C ends the program immediately", async (t) => {
    const { folder, start } = await setUp(t);
    const source = `process.stderr.write("busy\\n");
    export const checkConfig = () => new Promise(() => setInterval(() => {}, 1000));`;
    installGatewayPackage(folder, "check", source);
    const running = start(["config", "check"]);
    await running.waitForScreen(/^busy$/m);
    const ended = running.ended.then(() => "ended");
    // Two signals in quick succession can arrive as one, so press the key until the program ends.
    while ((await Promise.race([ended, delay(50)])) !== "ended") running.press(CTRL_C);
    assert.equal(await running.ended, 130);
    const isGraceful = running.raw().includes("quillgate: interrupted");
    assert.ok(!isGraceful, "the program ended on the first Ctrl-C");
  });

  test("-o names a terminal without sending it escape sequences of rows", async (t) => {
    const { respondWith, start } = await setUp(t);
    const row = { path: "/a\u001b[2J\u009b2J\u202eb", human: 1, ai: 1, total: 2 };
    respondWith(() => ({ json: { totals: {}, views: [row], hasMore: false } }));
    const running = start(["views", ...RANGE, "--format", "csv", "--quiet", "-o", "/dev/tty"]);
    assert.equal(await running.ended, 0, running.raw());
    assert.match(running.raw(), /\/a\uFFFD\[2J\uFFFD2J\uFFFDb/);
  });

  test("job create reads a typed prompt until Ctrl-D", async (t) => {
    const { server, start } = await setUp(t);
    const running = start(["job", "create", "-"]);
    await running.waitForScreen(/type the prompt, then press Ctrl-D/);
    running.press("Document it\n\u0004");
    assert.equal(await running.ended, 0);
    assert.equal(JSON.parse(server.requests[0].body).prompt, "Document it\n");
    const interrupted = start(["job", "create", "-"]);
    await interrupted.waitForScreen(/Ctrl-D/);
    interrupted.press(CTRL_C);
    assert.equal(await interrupted.ended, 130);
    assert.equal(server.requests.length, 1);
  });

  test("Ctrl-C in the editor is a key of the editor", async (t) => {
    const { server, env, folder, start } = await setUp(t);
    const editor = join(folder, "editor");
    const script = `#!/bin/sh\ntrap 'echo key' INT\necho open\nread a || read a\nprintf x > "$1"\n`;
    writeFileSync(editor, script, { mode: 0o755 });
    const running = start(["job", "create"], { env: { ...env, EDITOR: editor } });
    await running.waitForScreen(/^open$/m);
    running.press(CTRL_C);
    await running.waitForScreen(/key$/m);
    running.press("\n");
    assert.equal(await running.ended, 0, running.raw());
    assert.equal(JSON.parse(server.requests[0].body).prompt, "x");
  });

  test("a table shows a progress bar with the remaining time, then only its rows", async (t) => {
    const { start, stallFrom, respondWith } = await setUp(t);
    stallFrom(2);
    const running = start(["views", ...RANGE, "--rows", "1000"]);
    const bar = /^views: 500 rows in 2 requests, 98 left \[={10} {10}\] \d:\d\d left$/m;
    await running.waitForScreen(bar);
    running.press(CTRL_C);
    assert.equal(await running.ended, 130);

    respondWith(undefined);
    const done = start(["views", ...RANGE, "--rows", "3"], { columns: 60 });
    assert.equal(await done.ended, 0);
    assert.deepEqual(done.screen(), [
      "Jan 1 – Jan 31, 2026, UTC",
      "PATH                    HUMAN  AI  TOTAL",
      '/guides/0, "so" to say      0   0      0',
      '/guides/1, "so" to say      1   2      3',
      '/guides/2, "so" to say      2   4      6',
      "views: 3 rows in 1 request, 97 left",
      "there may be more rows: --rows N, or --format csv",
      "",
    ]);
  });
});
