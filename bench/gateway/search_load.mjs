/**
 * Measures the time of a creation while 200 callers search the jobs of the same project.
 *
 *     node bench/gateway/search_load.mjs [rounds]
 *
 * It uses the Worker in `worker/build`. It fails when a creation fails, or takes more than twice
 * the median of idle creations plus 500 ms.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { setup } from "../../scripts/setup.mjs";
import { startJobs } from "../../tests/gateway/jobs_gateway.mjs";
import { PROJECT } from "../../tests/gateway/recorded_gateway.mjs";
import { buildUpstream } from "../../tests/harness/upstream.mjs";

const CALLERS = 200;
const IDLE_CREATIONS = 20;
const ROUNDS = Number(process.argv[2] ?? 3);
/** The searches arrive at the gateway before the creation. */
const HEAD_START_MS = 100;
const PATIENCE_MS = 1_800_000;
/** Numbers of jobs, the lengths of their prompts, and how much of a prompt is stored. */
const LEDGERS = [
  { count: 216_000, length: 120, keep: "first-line" },
  { count: 60_000, length: 4_000, keep: "whole" },
];
/** Searched strings: none occurs, but most trigrams of the second occur in every job. */
const SEARCHES = { rare: "zzz", "common trigrams": "pages/guide", short: "zz" };
const LIST = `/v2/agent/${PROJECT}/jobs`;

const context = { ...(await setup({ wasmBindgen: true })), compiled: [], made: [] };
process.env.QUILLGATE_CANARY_KEY = `mint_canary_${"q".repeat(24)}`;
process.env.QUILLGATE_SIMULATOR = await buildUpstream(context);
for (const ledger of LEDGERS) await measureLedger(ledger);

async function measureLedger({ count, length, keep }) {
  const vars = { KEEP_PROMPTS: keep, JOB_POLL_SECONDS: "300" };
  const jobs = await startJobs(`search-${length}`, { clockRate: 1, vars, projects: [PROJECT] });
  try {
    await jobs.create();
    await jobs.restartWithSql([[fill(keep), count, length, Date.now() - 86_400_000]]);
    const tables = "SELECT name FROM sqlite_master WHERE name = 'search_backlog'";
    if ((await jobs.restartWithSql([[tables]])).length > 0) {
      const update = "UPDATE search_backlog SET last = (SELECT max(row) FROM job)";
      await jobs.restartWithSql([[update]]);
      await waitForIndex(jobs, count);
    }
    const idle = [];
    for (let number = 0; number < IDLE_CREATIONS; number++) idle.push(await timeCreation(jobs));
    const median = idle.sort((a, b) => a - b)[IDLE_CREATIONS / 2];
    const limit = 2 * median + 500;
    console.log(`${count} jobs of ${length} characters: idle creation ${show(median)}`);
    for (const [name, text] of Object.entries(SEARCHES)) {
      const rounds = [];
      for (let round = 0; round < ROUNDS; round++) rounds.push(await measureRound(jobs, text));
      const slowest = Math.max(...rounds.map(({ creation }) => creation));
      const failures = rounds.filter(({ isCreated }) => !isCreated).length;
      const searches = Math.max(...rounds.map(({ searches }) => searches));
      console.log(
        `  ${name}: creation ${show(slowest)} (limit ${show(limit)}, ${failures} failed), ` +
          `all searches ${show(searches)}`,
      );
      if (slowest > limit || failures > 0) process.exitCode = 1;
    }
  } finally {
    await jobs.stop();
  }
}

/**
 * Returns SQL that stores jobs. Its parameters are their number, the length of a prompt and the
 * time of the first creation.
 */
function fill(keep) {
  const prompt = `substr('Update the guides/page-' || number || replace(hex(zeroblob(?2 / 8)),
    '00', ' ' || hex(number * 7919) || ' guide pages'), 1, ?2)`;
  return `WITH RECURSIVE one (number) AS
      (SELECT 1 UNION ALL SELECT number + 1 FROM one WHERE number < ?1)
    INSERT INTO job
      (id, listed, subject, prompt_summary, prompt, created_at, status, data, version, checked_at,
       last_started_at)
    SELECT 'stored-' || number, 1, 'alice', substr(${prompt}, 1, 120),
      ${keep === "whole" ? prompt : "NULL"}, ?3 + number, 'completed', '{}', 1, ?3, ?3 FROM one`;
}

/** Waits until the index is complete: one request then searches all jobs. */
async function waitForIndex(jobs, count) {
  const startedAt = performance.now();
  for (;;) {
    const answer = await jobs.get(`${LIST}?text=zzz`);
    if (answer.json?.nextCursor === null) break;
    if (performance.now() - startedAt > PATIENCE_MS) throw new Error("the index is incomplete");
    await sleep(1_000);
  }
  console.log(`${count} jobs added to the index in ${show(performance.now() - startedAt)}`);
}

async function timeCreation(jobs) {
  const startedAt = performance.now();
  await jobs.create("measure me");
  return performance.now() - startedAt;
}

/** Starts one search per caller and measures a creation behind them. */
async function measureRound(jobs, text) {
  const startedAt = performance.now();
  const searches = Array.from({ length: CALLERS }, async (_, number) => {
    const token = jobs.gate.token({ sub: `caller-${number}`, projects: jobs.projects });
    const query = new URLSearchParams({ text });
    const authorization = `Bearer ${token}`;
    const response = await fetch(`${jobs.gate.gateway.url}${LIST}?${query}`, {
      headers: { authorization },
    });
    const body = await response.text();
    if (response.status !== 200) throw new Error(`${response.status} ${body}`);
  });
  const ended = Promise.allSettled(searches);
  await sleep(HEAD_START_MS);
  const creationStartedAt = performance.now();
  const isCreated = await timeCreation(jobs).then(
    () => true,
    () => false,
  );
  const creation = performance.now() - creationStartedAt;
  const failed = (await ended).filter(({ status }) => status === "rejected");
  if (failed.length > 0) console.log(`  ${failed.length} searches failed: ${failed[0].reason}`);
  return { creation, isCreated, searches: performance.now() - startedAt };
}

function show(milliseconds) {
  return `${milliseconds.toFixed(milliseconds < 10 ? 1 : 0)} ms`;
}
