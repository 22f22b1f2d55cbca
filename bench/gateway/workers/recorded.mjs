/**
 * The gateway with two more routes: `/recorded/{project}/record/{count}` writes that many jobs into the
 * project's ledger, and `/recorded/{project}/ring/{times}` runs its alarm that often.
 */
// As it was built, so that nothing here depends on how.
import worker, { ProjectGate as Project } from "../../../worker/build/index.js";

export { OrgGate } from "../../../worker/build/index.js";

const PREFIX = "/recorded/";
/** How many of the recorded jobs have not ended. */
const UNFINISHED = 50;
const DAY_MS = 24 * 3600 * 1000;

/** Jobs with webhooks, of which the last few have not ended: they are polled in an hour. */
const RECORD = `
  WITH RECURSIVE one (number) AS (
    SELECT 1 UNION ALL SELECT number + 1 FROM one WHERE number < ?1
  ), job_of (number, id, status) AS (
    SELECT number, 'recorded-' || number,
      CASE WHEN number > ?1 - ?2 THEN 'active' ELSE 'completed' END FROM one
  )
  INSERT INTO job (id, listed, subject, line, webhook, created, status, data, seq, checked, began,
    webhook_poll)
  SELECT id, 1, 'bench', 'recorded', 'https://hooks.example/x', ?3 - ?4 + number, status,
    json_object('id', id, 'status', status), 1, ?3, ?3,
    CASE status WHEN 'active' THEN ?3 + 3600000 + number END
  FROM job_of`;

export default {
  ...worker,
  async fetch(request, env, context) {
    const { pathname } = new URL(request.url);
    if (!pathname.startsWith(PREFIX)) return await worker.fetch(request, env, context);
    const [project, method, number] = pathname.slice(PREFIX.length).split("/");
    await env.PROJECT_GATE.getByName(project)[method](Number(number));
    return new Response("done");
  },
};

export class ProjectGate extends Project {
  record(count) {
    // The first call of the gateway makes its tables.
    this.health();
    this.ctx.storage.sql.exec(RECORD, count, UNFINISHED, Date.now(), DAY_MS).toArray();
  }

  async ring(times) {
    for (let time = 0; time < times; time += 1) await this.alarm();
  }
}
