/**
 * Exports in a spreadsheet. The gateway and the package export the same bytes. LibreOffice opens
 * the CSV of page views with paths as text and counts as numbers.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { canaryKey } from "../../harness/canary.mjs";
import { startGateway } from "../../harness/gateway.mjs";
import { openInSpreadsheet } from "../../harness/spreadsheet.mjs";
import { accessClaims, mintToken, newSecret, SCOPES } from "../../harness/token.mjs";
import { startUpstream } from "../../harness/upstream.mjs";

const PROJECT = "acme";
const RANGE = { dateFrom: "2024-01-01", dateTo: "2024-03-01" };
/** Maps the path segment of each report at the gateway to the package's method. */
const REPORTS = {
  ...{ views: "views", visitors: "visitors", feedback: "feedback", searches: "searches" },
  assistant: "conversations",
};

let upstream;
let gateway;
let token;
let quillgate;

before(async () => {
  quillgate = await import("quillgate");
  const [secret, key] = [newSecret(), canaryKey()];
  upstream = await startUpstream({ key, pages: 600, projects: [PROJECT] });
  gateway = await startGateway({ upstreamUrl: upstream.url, adminKey: key, secret });
  const grant = { sub: "exporter", projects: [PROJECT], scope: SCOPES.join(" ") };
  token = mintToken(accessClaims(grant), secret);
});

after(async () => {
  await gateway?.stop();
  await upstream?.stop();
});

async function exportFromGateway(report, format) {
  const query = new URLSearchParams({ ...RANGE, format });
  const response = await fetch(`${gateway.url}/v1/analytics/${PROJECT}/${report}/export?${query}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  assert.equal(response.status, 200);
  return Buffer.from(await response.arrayBuffer());
}

for (const [report, list] of Object.entries(REPORTS)) {
  for (const format of ["csv", "ndjson"]) {
    test(`exports ${report} as ${format} with the same bytes as the package`, async () => {
      const { analytics } = new quillgate.Client({
        ...{ baseUrl: gateway.url, projectId: PROJECT, auth: { token } },
      });
      const own = new Response(analytics[list](RANGE).export({ format }));
      const bytes = await exportFromGateway(report, format);
      assert.ok(bytes.length > 1000);
      assert.ok(bytes.equals(Buffer.from(await own.arrayBuffer())));
    });
  }
}

test("exports CSV that a spreadsheet opens with one row per page and counts as numbers", async () => {
  const { views } = await upstream.report({ report: "views", projectId: PROJECT, ...RANGE });
  const [header, ...rows] = await openInSpreadsheet(await exportFromGateway("views", "csv"));
  assert.deepEqual(
    header.map(({ text }) => text),
    ["path", "human", "ai", "total"],
  );
  assert.equal(rows.length, views.length);
  assert.ok(views.some(({ path }) => path.startsWith("=")));
  for (const [at, { path, human, ai, total }] of views.entries()) {
    const [cell, ...counts] = rows[at];
    // The export puts an apostrophe before these paths, so that no cell is a formula. The
    // spreadsheet shows the apostrophe.
    const start = /^[=+\-@＝＋－＠\t\r\n]|(?<=[;\r\n]["\t]*)[=+\-@＝＋－＠]/g;
    const text = path.replace(start, "'$&");
    assert.deepEqual([cell.type, cell.text, cell.formula], ["string", text, undefined]);
    assert.deepEqual(
      counts.map(({ type, text }) => [type, text]),
      [human, ai, total].map((count) => ["float", String(count)]),
    );
  }
});
