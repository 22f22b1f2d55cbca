/** The reports of a stand-in and their exports by the client. */
import assert from "node:assert/strict";
import { Client } from "quillgate";
import { server } from "./session.mjs";
import { PROJECT } from "./stand_in.mjs";

export const ROWS = 1100;
export const FORMATS = ["csv", "ndjson", "json"];
export const RANGE = ["--from", "2026-01-01", "--to", "2026-02-01"];

export async function exportByClient(report, format) {
  const client = new Client({ baseUrl: server.url, projectId: PROJECT, auth: { token: "token" } });
  const list = client.analytics[report]({ dateFrom: "2026-01-01", dateTo: "2026-02-01" });
  return Buffer.from(await new Response(list.export({ format })).arrayBuffer()).toString();
}

/** Compares exports without printing them when they differ. */
export function assertSame(actual, expected) {
  assert.ok(expected.length > 0);
  assert.ok(
    actual === expected,
    `${actual.length} characters differ from the expected ${expected.length}`,
  );
}
