/**
 * The gateway with two more routes: `/recorded/{project}/record/{count}` records that many jobs,
 * and `/recorded/{project}/runAlarm/{count}` runs the project's alarm that many times.
 */
// Imports the build's output, so this file does not depend on how it is built.
import worker, { ProjectGate as Project } from "../../../worker/build/index.js";

export { OrgGate } from "../../../worker/build/index.js";

const PREFIX = "/recorded/";
/** Number of recorded jobs that have not finished. */
const UNFINISHED = 50;
const DAY_MS = 24 * 3600 * 1000;

/** Inserts jobs with webhooks. Those that have not finished are polled in an hour. */
const RECORD = `
  WITH RECURSIVE one (number) AS (
    SELECT 1 UNION ALL SELECT number + 1 FROM one WHERE number < ?1
  ), job_of (number, id, status) AS (
    SELECT number, 'recorded-' || number,
      CASE WHEN number > ?1 - ?2 THEN 'active' ELSE 'completed' END FROM one
  )
  INSERT INTO job (id, listed, subject, prompt_summary, webhook, created_at, status, data, version,
    checked_at, last_started_at, webhook_poll)
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
    // The object's first call creates its tables.
    this.health();
    this.ctx.storage.sql.exec(RECORD, count, UNFINISHED, Date.now(), DAY_MS).toArray();
  }

  async runAlarm(count) {
    for (let run = 0; run < count; run += 1) await this.alarm();
  }
}
