/** One line of JSON a request: never a token, a key, a prompt or a query. */
import type { Decided } from "./core.js";
import type { Env } from "./env.js";
import type { Report } from "./report.js";

/** A request that was answered. */
interface Line {
  env: Env;
  decided: Decided;
  status: number;
  problem: string | null;
  report: Report;
  /** When it came, in milliseconds since the Unix epoch. */
  started: number;
}

/** Writes the line, and the data point where a dataset is bound. */
export function note({ env, decided, status, problem, report, started }: Line): void {
  const { id, subject, route, project, traceId } = decided;
  const mend = report.operator ?? report.upstream?.operator ?? null;
  const milliseconds = Date.now() - started;
  const line = JSON.stringify({
    requestId: id,
    traceId,
    subject,
    route,
    project,
    status,
    problem,
    upstreamStatus: report.upstream?.status ?? null,
    upstreamMilliseconds: report.upstream?.milliseconds ?? null,
    cache: report.cache ?? null,
    budgetLeft: report.budgetLeft ?? null,
    milliseconds,
    operator: mend,
  });
  if (mend === null) console.log(line);
  else console.error(line);
  env.ANALYTICS?.writeDataPoint({
    indexes: [project ?? "none"],
    blobs: [route, problem, report.cache ?? null, subject],
    doubles: [status, milliseconds, report.upstream?.milliseconds ?? 0],
  });
}
