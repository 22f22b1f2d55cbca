/** Exports reports of a stand-in to standard output and to files in a new folder per test. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, beforeEach } from "node:test";
import { Client } from "quillgate";
import { runCommand } from "./command_line.mjs";
import { PROJECT, startStandIn } from "./stand_in.mjs";

export const ROWS = 1100;
export const FORMATS = ["csv", "ndjson", "json"];
export const RANGE = ["--from", "2026-01-01", "--to", "2026-02-01"];
export let server;
/** The working folder of the command line. */
export let folder;

/** Starts the stand-in of a test file. */
export function useStandIn(override) {
  before(async () => {
    server = await startStandIn({ rows: ROWS, override });
  });
  after(() => server.stop());
  beforeEach(() => {
    server.requests.length = 0;
    server.refillBudget();
    folder = mkdtempSync(join(tmpdir(), "quillgate-cli-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
}

export const env = () => ({
  QUILLGATE_BASE_URL: server.url,
  QUILLGATE_PROJECT_ID: PROJECT,
  QUILLGATE_TOKEN: "token",
});
export const quillgate = (args, options = {}) =>
  runCommand(args, { env: env(), folder, ...options });
export const read = (name) => readFileSync(join(folder, name), "utf8");
export const write = (name, text) => writeFileSync(join(folder, name), text);
export const readCursor = (name) => JSON.parse(read(`${name}.quillgate-progress`));

/** Exports a report with the client. */
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
