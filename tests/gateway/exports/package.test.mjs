/** The gateway and the package export the same bytes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Client } from "quillgate";
import { SCOPES } from "../../harness/token.mjs";
import { exportOf } from "../expected_exports.mjs";
import { PROJECT, useGate } from "../recorded_gateway.mjs";

const RANGE = { dateFrom: "2024-01-01", dateTo: "2024-03-01" };
/** Maps the path segment of each report at the gateway to the package's method. */
const REPORTS = {
  ...{ views: "views", visitors: "visitors", feedback: "feedback", searches: "searches" },
  assistant: "conversations",
};
const gate = useGate("exports-package", { upstream: { pages: 600 } });

for (const [report, list] of Object.entries(REPORTS)) {
  for (const format of ["csv", "ndjson"]) {
    test(`exports ${report} as ${format} with the same bytes as the package`, async () => {
      const token = gate.token({ scope: SCOPES.join(" ") });
      const baseUrl = gate.gateway.url;
      const { analytics } = new Client({ baseUrl, projectId: PROJECT, auth: { token } });
      const own = new Response(analytics[list](RANGE).export({ format }));
      const authorization = `Bearer ${token}`;
      const answer = await gate.get(exportOf(report, { ...RANGE, format }), { authorization });
      assert.equal(answer.status, 200);
      assert.ok(answer.body.length > 1000);
      assert.ok(answer.body.equals(Buffer.from(await own.arrayBuffer())));
    });
  }
}
