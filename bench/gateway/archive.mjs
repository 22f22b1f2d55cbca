/**
 * Benchmark of the daily archive. It measures the time of a daily series and the size of the
 * database, for archives with different numbers of rows.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { canaryKey } from "../../tests/harness/canary.mjs";
import { queryArchive, startGateway } from "../../tests/harness/gateway.mjs";
import { accessClaims, mintToken, newSecret } from "../../tests/harness/token.mjs";

const PROJECT = "acme";
const FIRST_DAY = 19_000;
/** Pages and days of each archive, the smallest first. */
export const ARCHIVES = [
  { pages: 100, days: 100 },
  { pages: 5000, days: 200 },
  { pages: 5000, days: 2000 },
];
export const ROUNDS = 100;
/** Days in each series. */
export const SERIES_DAYS = 90;
const SUBJECTS = {
  site: "",
  page: "&path=/guides/section-1/page-1",
  prefix: "&prefix=/guides/section-1",
};

const date = (day) => new Date(day * 86_400_000).toISOString().slice(0, 10);

/**
 * @typedef {object} ArchiveCost
 * @property {number} rows
 * @property {number} bytes size of the database
 * @property {Record<string, number[]>} milliseconds from request to response, by subject
 *
 * @returns {Promise<ArchiveCost[]>}
 */
export async function measureArchives() {
  const costs = [];
  for (const archive of ARCHIVES) costs.push(await measureArchive(archive));
  return costs;
}

async function measureArchive({ pages, days }) {
  const rows = pages * days;
  console.log(`bench: an archive of ${rows.toLocaleString("en")} rows …`);
  const state = mkdtempSync(join(tmpdir(), "quillgate-bench-archive-"));
  const secret = newSecret();
  const options = {
    state,
    secret,
    archive: true,
    adminKey: canaryKey(),
    vars: { ARCHIVE_PROJECTS: PROJECT, ARCHIVE_RETENTION_DAYS: "3650" },
  };
  try {
    // The first start creates the tables.
    await (await startGateway(options)).stop();
    await queryArchive(state, writeRows(pages, days));
    const gateway = await startGateway(options);
    try {
      const grant = { sub: "bench", projects: [PROJECT], scope: "analytics:read" };
      const headers = { authorization: `Bearer ${mintToken(accessClaims(grant), secret)}` };
      const read = async (path) => {
        const url = `${gateway.url}/v1/analytics/${PROJECT}/views/daily${path}`;
        const response = await fetch(url, { headers });
        const body = await response.json();
        if (!response.ok) throw new Error(`${response.status} ${JSON.stringify(body)}`);
        return body;
      };
      const range = `?dateFrom=${date(FIRST_DAY)}&dateTo=${date(FIRST_DAY + SERIES_DAYS)}`;
      const milliseconds = Object.fromEntries(Object.keys(SUBJECTS).map((name) => [name, []]));
      for (let round = -5; round < ROUNDS; round++) {
        for (const [name, selection] of Object.entries(SUBJECTS)) {
          const started = performance.now();
          const { views } = await read(range + selection);
          const duration = performance.now() - started;
          if (views.length !== SERIES_DAYS) throw new Error(`${name}: ${views.length} days`);
          if (round >= 0) milliseconds[name].push(duration);
        }
      }
      const { bytes } = await read("/status");
      return { rows, bytes, milliseconds };
    } finally {
      await gateway.stop();
    }
  } finally {
    rmSync(state, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Returns SQL that fills an archive day by day, as the gateway does. */
function writeRows(pages, days) {
  const numbers = (name, count) =>
    `${name} (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM ${name} WHERE n < ${count - 1})`;
  return [
    `INSERT INTO project (id, name, first_day) VALUES (1, '${PROJECT}', ${FIRST_DAY})`,
    `INSERT INTO day (project, day, fetched, human, ai, total, has_page_views)
     WITH RECURSIVE ${numbers("number", days)}
     SELECT 1, ${FIRST_DAY} + n, 1, 100, 10, 110, 1 FROM number`,
    `INSERT INTO page_views (project, day, path, human, ai, total)
     WITH RECURSIVE ${numbers("page", pages)}, ${numbers("number", days)}
     SELECT 1, ${FIRST_DAY} + number.n, '/guides/section-' || (page.n % 40) || '/page-' || page.n,
       abs(random()) % 200, abs(random()) % 50, abs(random()) % 250
     FROM number CROSS JOIN page`,
    "SELECT 1 AS done",
  ].join(";\n");
}
