/** The responses in `tests/conformance`, read by the package. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { ApiError, Client, ConnectionError, DecodeError } from "quillgate";
import { isExpected, serveResponse } from "../conformance/server.js";

const CASES = JSON.parse(readFileSync(new URL("../conformance/responses.json", import.meta.url)));

for (const response of CASES) {
  test(`reads ${response.name}`, async () => {
    const json = JSON.stringify(response);
    const baseUrl = await serveResponse(json);
    const client = new Client({ baseUrl, projectId: "acme", auth: { token: "t" }, maxRetries: 0 });
    const found = await client.agentJobs.get("j1").then(({ model }) => ({ model }), describe);
    assert.ok(isExpected(json, JSON.stringify(found)), JSON.stringify(found));
  });
}

function describe(error) {
  if (error instanceof ConnectionError) return { error: "connection" };
  if (error instanceof DecodeError) return { error: "decode" };
  if (!(error instanceof ApiError)) throw error;
  const { status, message } = error;
  return { error: "api", status, message: message.replace(`${status} `, "").split("; ", 1)[0] };
}
