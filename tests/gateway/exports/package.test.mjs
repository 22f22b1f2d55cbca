/** The gateway and the package export the same bytes. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { canaryKey } from "../../harness/canary.mjs";
import { startGateway } from "../../harness/gateway.mjs";
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
