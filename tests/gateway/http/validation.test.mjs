import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import { assertInvalid, assertProblem, JOBS, useGate } from "../recorded_gateway.mjs";

const MAX_BODY_BYTES = 1024 * 1024;
const JSON_TYPE = ["Content-Type", "application/json"];

const gate = useGate("input");

describe("a request body", () => {
  async function postToBoth(body, { headers = [JSON_TYPE], ...options } = {}) {
    const each = [JOBS, `${JOBS}/j1/message`].map((target) =>
      gate.send({ method: "POST", target, headers, body, ...options }),
    );
    return Promise.all(each);
  }
  test("rejects a compressed body even with Content-Encoding: gzip", async () => {
    const headers = [JSON_TYPE, ["Content-Encoding", "gzip"]];
    for (const answer of await postToBoth(gzipSync('{"prompt":"x"}'), { headers })) {
      assertInvalid(answer, "body", "json-object");
    }
  });

  test("rejects a body by its Content-Length before any of it arrives", async () => {
    for (const length of [MAX_BODY_BYTES + 1, 10 ** 12]) {
      for (const target of [JOBS, `${JOBS}/j1/message`]) {
        const id = `announces-${length}-for-${target.length}`;
        const headers = [JSON_TYPE, ["Content-Length", String(length)], ["X-Request-Id", id]];
        const exchange = gate.open(gate.bytes({ method: "POST", target, headers }));
        // The local runtime delays the response until the body has arrived, so the test reads the
        // log line instead.
        const { status, problem } = await gate.logged(id);
        assert.deepEqual([status, problem], [413, "content-too-large"]);
        exchange.leave();
      }
    }
  });

  test("rejects a body one byte over the size limit, chunked or not", async () => {
    const rest = MAX_BODY_BYTES + 1 - '{"prompt":""}'.length;
    const body = JSON.stringify({ prompt: "x".repeat(rest) });
    assert.equal(body.length, MAX_BODY_BYTES + 1);
    for (const chunked of [false, true]) {
      for (const answer of await postToBoth(body, { chunked })) {
        const { detail } = assertProblem(answer, 413, "content-too-large");
        assert.match(detail, new RegExp(`\\b${MAX_BODY_BYTES} bytes`));
      }
    }
  });

  test("truncates a body at its Content-Length, and rejects the truncated JSON", async () => {
    const body = JSON.stringify({ prompt: "x" });
    for (const target of [JOBS, `${JOBS}/j1/message`]) {
      const headers = [JSON_TYPE, ["Content-Length", String(body.length - 2)]];
      const answer = await gate.send({ method: "POST", target, headers, body });
      assertInvalid(answer, "body", "json-object");
    }
  });

  test("rejects conflicting or malformed Content-Length fields", async () => {
    for (const lengths of [["14", "15"], ["-1"], ["1e1"], ["0x0e"], ["14, 15"]]) {
      const headers = [JSON_TYPE, ...lengths.map((length) => ["Content-Length", length])];
      for (const answer of await postToBoth('{"prompt":"x"}', { headers })) {
        assert.ok(answer.status >= 400 || answer.status === undefined, answer.raw.toString());
      }
    }
  });
});
