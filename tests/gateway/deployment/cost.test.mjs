/** The billed operations on which `scripts/cost.mjs` bases its estimate. `setAlarm` writes a row. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { MEASURED } from "../../../scripts/cost.mjs";
import { keyed, useJobs } from "../jobs_gateway.mjs";
import { before, PROJECT, startGate, VIEWS } from "../recorded_gateway.mjs";
import { BUILT_SCRIPT, configWith } from "../wrangler_config.mjs";

/** Counts the operations of all objects of the Worker, which share one isolate here. */
const COUNTING_WORKER = `
  import worker, * as classes from ${JSON.stringify(BUILT_SCRIPT)};
  let objects = 0, alarms = 0, isPatched = false, cursors = [], d1 = { read: 0, written: 0 };
  function patch(storage) {
    if (isPatched) return;
    isPatched = true;
    const sql = Object.getPrototypeOf(storage.sql);
    const { exec } = sql;
    sql.exec = function (...statement) {
      const cursor = exec.apply(this, statement);
      cursors.push(cursor);
      return cursor;
    };
    const prototype = Object.getPrototypeOf(storage);
    const { setAlarm } = prototype;
    prototype.setAlarm = function (...time) {
      alarms += 1;
      return setAlarm.apply(this, time);
    };
  }
  function note(result) {
    d1.read += result.meta.rows_read;
    d1.written += result.meta.rows_written;
    return result;
  }
  const statements = new WeakMap();
  function wrap(statement) {
    const wrapped = { bind: (...values) => wrap(statement.bind(...values)) };
    for (const name of ["all", "run"]) wrapped[name] = async () => note(await statement[name]());
    statements.set(wrapped, statement);
    return wrapped;
  }
  const database = (archive) => archive && {
    prepare: (query) => wrap(archive.prepare(query)),
    batch: async (list) => (await archive.batch(list.map((one) => statements.get(one)))).map(note),
  };
  function counted(Base) {
    class Counted extends Base {
      constructor(state, env) {
        super(state, { ...env, ARCHIVE: database(env.ARCHIVE) });
        patch(state.storage);
      }
    }
    for (let at = Base.prototype; at !== Object.prototype; at = Object.getPrototypeOf(at)) {
      for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(at))) {
        if (typeof value !== "function" || Object.hasOwn(Counted.prototype, name)) continue;
        Counted.prototype[name] = function (...args) {
          objects += 1;
          return value.apply(this, args);
        };
      }
    }
    return Counted;
  }
  export class ProjectGate extends counted(classes.ProjectGate) {
    counts() {
      const sum = (name) => cursors.reduce((total, cursor) => total + cursor[name], 0);
      const counts = {
        objects, written: sum("rowsWritten") + alarms, read: sum("rowsRead"), d1,
        size: this.ctx.storage.sql.databaseSize,
      };
      [objects, alarms, cursors, d1] = [0, 0, [], { read: 0, written: 0 }];
      return counts;
    }
  }
  export class OrgGate extends counted(classes.OrgGate) {}
  export class Session extends counted(classes.Session) {}
  export default {
    ...worker,
    async fetch(request, env, context) {
      if (new URL(request.url).pathname !== "/v1/counts") return worker.fetch(request, env, context);
      return Response.json(await env.PROJECT_GATE.getByName("${PROJECT}").counts());
    },
  };
`;

const DAY = { dateFrom: "2026-01-01", dateTo: "2026-01-02" };
/** An object schedules its next alarm after a poll. The next poll is seconds later. */
const PAUSE_MS = 300;
const MAX_ALARMS = 2;

const config = configWith({ source: COUNTING_WORKER });
const jobs = useJobs("cost", {
  config,
  vars: { JOB_POLL_SECONDS: "5", JOB_POLLS_PER_HOUR: "20", ANALYTICS_LIMIT_PER_HOUR: "100000" },
});
let keys = 0;

before(async () => {
  await jobs.create();
  await report(DAY);
});

const readCounts = async () => (await fetch(`${jobs.gate.gateway.url}/v1/counts`)).json();
const create = (prompt = "document the API") => {
  keys += 1;
  return jobs.create(prompt, { headers: keyed(`cost-${keys}`) });
};
const report = (range) => jobs.get(`${VIEWS}?${new URLSearchParams({ ...range, limit: 250 })}`);

/** Returns the counts since the last call, when the objects are idle. */
async function readSettledCounts() {
  const total = await readCounts();
  for (;;) {
    await sleep(PAUSE_MS);
    const { objects, written, read } = await readCounts();
    if (objects + written + read === 0) return total;
    total.objects += objects;
    total.written += written;
    total.read += read;
  }
}

/** Asserts that `work` costs what the script assumes. It may read fewer rows. */
async function assertCost(context, name, work) {
  await readSettledCounts();
  const result = await work();
  const { objects, written, read } = await readSettledCounts();
  context.diagnostic(`${name}: ${JSON.stringify({ objects, written, read })}`);
  const expected = MEASURED[name];
  const alarms = objects - expected.objects;
  assert.ok(alarms >= 0 && alarms <= MAX_ALARMS, `${objects} requests to objects`);
  assert.ok(written >= expected.written, `${written} rows written`);
  const mostWritten = expected.written + alarms * MEASURED.poll.written;
  assert.ok(written <= mostWritten, `${written} rows written`);
  assert.ok(read <= expected.read + alarms * MEASURED.poll.read, `${read} rows read`);
  return result;
}

test("a creation, its stream and its polls cost what the script assumes", async (context) => {
  const { id } = await assertCost(context, "creation", () => create());
  await assertCost(context, "read", () => jobs.get(jobs.path(id)));
  const stream = await assertCost(context, "stream", () => jobs.watching(id));
  await assertCost(context, "poll", () => jobs.untilReads(id, 1));
  for (const [name, status] of Object.entries({ change: "planning", end: "completed" })) {
    await assertCost(context, name, () => jobs.change(id, { status }, stream));
  }
  stream.leave();
});

test("a report costs what the script assumes, and a cached one no object", async (context) => {
  const range = { dateFrom: "2026-02-01", dateTo: "2026-02-02" };
  await assertCost(context, "report", () => report(range));
  await assertCost(context, "cachedReport", () => report(range));
});

test("a stored job takes the space that the script assumes", async (context) => {
  const before = (await readCounts()).size;
  const count = 200;
  for (let at = 0; at < count; at += 1) await create("p".repeat(1000));
  const bytes = ((await readCounts()).size - before) / count;
  context.diagnostic(`${bytes} bytes per job with a prompt of 1,000 characters`);
  assert.ok(bytes <= MEASURED.bytesPerJob, `${bytes} bytes`);
});

test("the first fetch of an archived day writes the rows that the script assumes", async (context) => {
  const pages = 500;
  const gate = await startGate("cost-archive", {
    upstream: { pages },
    gateway: { config, archive: true, vars: { ARCHIVE_PROJECTS: PROJECT } },
  });
  try {
    await gate.gateway.runCron();
    const response = await fetch(`${gate.gateway.url}/v1/counts`);
    const { d1 } = await response.json();
    context.diagnostic(JSON.stringify(d1));
    assert.ok(d1.written > 0 && d1.written <= pages * MEASURED.archiveRowsPerPage, `${d1.written}`);
  } finally {
    await gate.stop();
  }
});
