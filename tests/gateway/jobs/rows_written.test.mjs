/** The number of SQLite rows that the project's object writes. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { keyed, useJobs } from "../jobs_gateway.mjs";
import { before, PROJECT } from "../recorded_gateway.mjs";
import { BUILT_SCRIPT, configWith } from "../wrangler_config.mjs";

/** A change can follow another poll, which writes two rows. */
const MAX_ROWS = { creation: 14, followUp: 12, poll: 2, change: 8 };

const config = configWith({
  source: `
    import worker, { ProjectGate as Gate } from ${JSON.stringify(BUILT_SCRIPT)};
    export * from ${JSON.stringify(BUILT_SCRIPT)};
    let cursors = [];
    let isCounting = false;
    export class ProjectGate extends Gate {
      constructor(state, env) {
        super(state, env);
        if (isCounting) return;
        isCounting = true;
        const sql = Object.getPrototypeOf(state.storage.sql);
        const { exec } = sql;
        sql.exec = function (...statement) {
          const cursor = exec.apply(this, statement);
          cursors.push(cursor);
          return cursor;
        };
      }
      rowsWritten() {
        const rows = cursors.reduce((sum, { rowsWritten }) => sum + rowsWritten, 0);
        cursors = [];
        return rows;
      }
    }
    export default {
      async fetch(request, env, context) {
        const { pathname } = new URL(request.url);
        if (pathname !== "/v1/rows-written") return worker.fetch(request, env, context);
        return new Response(await env.PROJECT_GATE.getByName("${PROJECT}").rowsWritten());
      },
    };
  `,
});
const jobs = useJobs("rows-written", { config, vars: { JOB_POLL_SECONDS: "15" } });
before(() => jobs.create());

async function readCount() {
  const response = await fetch(`${jobs.gate.gateway.url}/v1/rows-written`);
  return Number(await response.text());
}

async function assertRows(max, work) {
  await readCount();
  await work();
  const rows = await readCount();
  assert.ok(rows > 0 && rows <= max, `${rows} rows`);
}

test("writes a bounded number of rows per write with an idempotency key", async () => {
  let id;
  await assertRows(MAX_ROWS.creation, async () => {
    ({ id } = await jobs.create("keyed", { headers: keyed("create") }));
  });
  await assertRows(MAX_ROWS.followUp, () =>
    jobs.followUp(id, "and more", { headers: keyed("follow-up") }),
  );
});

test("writes a bounded number of rows per poll", async () => {
  const { id } = await jobs.create("watched");
  const stream = await jobs.watching(id);
  await assertRows(MAX_ROWS.poll, () => jobs.untilReads(id, 1));
  await assertRows(MAX_ROWS.change, () => jobs.change(id, { status: "planning" }, stream));
  stream.leave();
});
