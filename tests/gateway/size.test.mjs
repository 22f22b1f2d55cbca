/** What a deployment uploads stays small, and what is not Rust of it stays little. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { ROOT } from "../../scripts/versions.mjs";

/**
 * 200 kB were enough until the gateway's limits: what holds the attacks of SECURITY.md off (keys on
 * disk, ceilings, permits, breakers, budgets of reads, derived keys, caps, retention) took 29 kB, of
 * which inlining less gave 8 back, and the types' documentation 2. Exports took 13, by the share of their
 * code: rows 3, from page to page 1, the stream 3, declarations and heads 3, what they use of the
 * standard library 3.
 * The daily archive took 23: of its own functions, 34 kB as they are compiled, the run is 15, what
 * reads and writes D1 8, series and status 7, the plan 2.
 * Sessions of the page took 14: of the 35 kB more as they are compiled, sign-in at an issuer is about 12, the rest what opens,
 * reads and ends a session, its handling of requests, and the checks that it shares with tokens.
 * What is kept of jobs and told of them took 9: SQL 2, filters and records 3, the stream of the list 4.
 * What ends a session took 4: the session before a sign-in, exports and streams after sign-out, 90 days at most, and how many a
 * caller may open; and the way of a failed sign-in back to the page.
 * That exports are as quick as they are took 19: 13 are what writes their rows in the object, several pages a call, and begins one
 * page before it goes through the other; 6 that the core is compiled for speed.
 */
const MOST_WASM = 300_000;
const MOST_LINES = 250;

test(`the Worker's wasm is at most ${MOST_WASM} bytes, gzipped`, (context) => {
  const wasm = readFileSync(join(ROOT, "worker", "build", "gateway_bg.wasm"));
  const { length } = gzipSync(wasm, { level: 9 });
  context.diagnostic(`${length} bytes`);
  assert.ok(length <= MOST_WASM, `${length} bytes`);
});

test(`at most ${MOST_LINES} lines of the Worker are JavaScript`, (context) => {
  const folder = join(ROOT, "worker");
  const isScript = (name) => /\.[cm]?[jt]sx?$/.test(name) && !/^(build|\.wrangler)\//.test(name);
  const scripts = readdirSync(folder, { recursive: true }).filter(isScript);
  const lines = scripts.map(
    (name) => readFileSync(join(folder, name), "utf8").split("\n").length - 1,
  );
  const sum = lines.reduce((all, one) => all + one, 0);
  context.diagnostic(`${sum} lines in ${scripts.join(" and ")}`);
  assert.ok(sum > 0 && sum <= MOST_LINES, `${sum} lines`);
});
