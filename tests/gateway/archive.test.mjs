/** The daily archive: what the cron trigger keeps of each day, and the series that are read from it. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { PROJECT, startGate } from "./gate.mjs";

const DAY_MS = 86_400_000;
const PAGES = 600;
const DAYS = 4;
const SCOPES = "analytics:read gateway:operate";

const state = mkdtempSync(join(tmpdir(), "quillgate-archive-"));
let gate;

const daysAgo = (count) => new Date(Date.now() - count * DAY_MS).toISOString().slice(0, 10);

before(async () => {
  gate = await startGate("archive", {
    upstream: { pages: PAGES, varyingDays: true },
    gateway: {
      state,
      archive: true,
      vars: { ARCHIVE_PROJECTS: PROJECT, ANALYTICS_LIMIT_PER_HOUR: "1000" },
    },
  });
  await gate.upstream.setLimits({ analytics: null });
});

after(async () => {
  await gate?.stop();
  rmSync(state, { recursive: true, force: true, maxRetries: 5 });
});

async function ask(path, { method = "GET", json, headers = {}, scope = SCOPES } = {}) {
  const token = gate.token({ scope });
  const response = await fetch(`${gate.gateway.url}/v1/analytics/${PROJECT}/views/daily${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(json ? { "content-type": "application/json" } : {}),
      ...headers,
    },
    body: json && JSON.stringify(json),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text && JSON.parse(text) };
}

test("try", async () => {
  console.log(JSON.stringify((await ask("/status")).body));
  console.log(
    JSON.stringify(
      (await ask(`/backfill`, { method: "POST", json: { dateFrom: daysAgo(DAYS) } })).body,
    ),
  );
  let t = performance.now();
  await gate.gateway.runCron();
  console.log(performance.now() - t);
  console.log(JSON.stringify((await ask("/status")).body));
  console.log(gate.gateway.log().slice(-1500));
  t = performance.now();
  const series = await ask(`?dateFrom=${daysAgo(DAYS)}&dateTo=${daysAgo(0)}`);
  console.log(performance.now() - t, series.status, JSON.stringify(series.body), [
    ...series.headers,
  ]);
});
