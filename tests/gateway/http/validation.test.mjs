/**
 * Validation of requests. The gateway rejects invalid query parameters, header fields and bodies
 * without an upstream request.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import { assertInvalid, assertProblem, JOBS, startGate, VIEWS } from "../recorded_gateway.mjs";

const MAX_BODY_BYTES = 1024 * 1024;
const JSON_TYPE = ["Content-Type", "application/json"];

let gate;

before(async () => {
  gate = await startGate("input");
});
after(() => gate?.stop());

describe("the query of a page-view request", () => {
  const rejects = (query, field, rule) =>
    test(`rejects page views with ?${query}`, async () => {
      assertInvalid(await gate.get(`${VIEWS}?${query}`), field, rule);
    });

  rejects("limit=251", "limit", "page-size");
  rejects("offset=-1", "offset", "offset");
  rejects("dateFrom=2024-02-30", "dateFrom", "calendar-date");
  rejects("dateFrom=yesterday", "dateFrom", "date-format");
  rejects("dateFrom=2024-01-02&dateTo=2024-01-01", "dateFrom", "before-date-to");
  rejects("limit=5&%6cimit=250", "limit", "once");
  rejects("projectId=other-docs", "projectId", "unknown");
  rejects("limit=%ff", "limit", "text");

  test("rejects any query parameter for operations without parameters", async () => {
    for (const query of ["prompt=x", "id=j2", "limit=5"]) {
      const name = query.split("=")[0];
      assertInvalid(await gate.get(`${JOBS}/j1?${query}`), name, "unknown");
      assertInvalid(await gate.post(`${JOBS}?${query}`, { prompt: "x" }), name, "unknown");
      const followUp = await gate.post(`${JOBS}/j1/message?${query}`, { prompt: "x" });
      assertInvalid(followUp, name, "unknown");
    }
  });
});

describe("the query of a job list request", () => {
  const rejects = (query, field, rule) =>
    test(`rejects a job list with ?${query}`, async () => {
      assertInvalid(await gate.get(`${JOBS}s?${query}`), field, rule);
    });

  rejects("limit=101", "limit", "page-size");
  rejects("cursor='%20OR%201=1--", "cursor", "cursor");
  rejects("offset=1", "offset", "unknown");
});

test("rejects any query parameter for a job's events", async () => {
  assertInvalid(await gate.get(`${JOBS}/j1/events?after=1`), "after", "unknown");
});

describe("a header field of a write request", () => {
  const rejects = (name, value, rule) =>
    test(`rejects the header field ${name}: ${value}`, async () => {
      for (const target of [JOBS, `${JOBS}/j1/message`]) {
        const headers = [[name, value]];
        assertInvalid(await gate.post(target, { prompt: "x" }, { headers }), name, rule(target));
      }
    });

  rejects("Idempotency-Key", '"half', () => "idempotency-key");
  rejects("Idempotency-Retry", "perhaps", () => "idempotency-retry");
  rejects("Webhook-Url", "https://hooks.example/", (target) =>
    target === JOBS ? "webhooks-off" : "create-only",
  );
});

describe("a request body", () => {
  /** Sends the body to both operations that accept a request body. Returns both responses. */
  async function postToBoth(body, { headers = [JSON_TYPE], ...options } = {}) {
    const each = [JOBS, `${JOBS}/j1/message`].map((target) =>
      gate.send({ method: "POST", target, headers, body, ...options }),
    );
    return Promise.all(each);
  }

  const rejects = (what, body, field, rule) =>
    test(`rejects a request body that ${what}`, async () => {
      for (const answer of await postToBoth(body)) assertInvalid(answer, field, rule);
    });

  rejects("has no prompt", "{}", "prompt", "required");
  rejects("has a null prompt", '{"prompt":null}', "prompt", "required");
  rejects("has an empty prompt", '{"prompt":""}', "prompt", "not-empty");
  rejects("has a prompt that is not a string", '{"prompt":["x"]}', "prompt", "text");
  for (const [what, body] of [
    ["is empty", ""],
    ["is truncated JSON", '{"prompt":"x"'],
    ["is UTF-16", Buffer.from('{"prompt":"x"}', "utf16le")],
    ["is not UTF-8", Buffer.from('{"prompt":"\xff"}', "latin1")],
    ["has a lone surrogate", '{"prompt":"\\ud800"}'],
    ["has an escaped duplicate property", '{"prompt":"x","\\u0070rompt":"y"}'],
    ["is deeply nested", `{"prompt":${"[".repeat(50_000)}`],
  ]) {
    rejects(what, body, "body", "json-object");
  }
  rejects("has an unknown property", '{"prompt":"x","model":"y"}', "model", "unknown");

  test("rejects a compressed body even with Content-Encoding: gzip", async () => {
    const headers = [JSON_TYPE, ["Content-Encoding", "gzip"]];
    for (const answer of await postToBoth(gzipSync('{"prompt":"x"}'), { headers })) {
      assertInvalid(answer, "body", "json-object");
    }
  });

  test("rejects a body whose media type is not application/json", async () => {
    for (const types of [
      [],
      ["application/x-www-form-urlencoded"],
      ["application/json, text/plain"],
      ["application/json", "application/json"],
    ]) {
      const headers = types.map((type) => ["Content-Type", type]);
      for (const answer of await postToBoth('{"prompt":"x"}', { headers })) {
        assertProblem(answer, 415, "unsupported-media-type");
        assert.equal(answer.header("accept-post"), "application/json");
      }
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
      assertInvalid(
        await gate.send({ method: "POST", target, headers, body }),
        "body",
        "json-object",
      );
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

test("does not repeat a prompt in error responses or the log", async () => {
  const prompt = "a-confidential-prompt";
  for (const json of [{ prompt, x: 1 }, { prompt: [prompt] }, [prompt]]) {
    const answer = await gate.post(JOBS, json);
    assert.equal(answer.status, 400);
    assert.ok(!answer.raw.includes(prompt));
  }
  assert.ok(!gate.gateway.log().includes(prompt));
});

test("sends none of the invalid requests upstream, but valid requests afterwards", async () => {
  assert.equal(await gate.received(), 0);
  assert.equal((await gate.get(`${VIEWS}?limit=250&offset=0&dateFrom=2024-02-29`)).status, 200);
  // A plus sign that became a space, and a byte order mark, have one meaning only.
  const offset = "dateFrom=2024-01-01T00:00:00+01:00";
  assert.equal((await gate.get(`${VIEWS}?${offset}`)).status, 200);
  const body = `\u{feff}${JSON.stringify({ prompt: "x" })}`;
  const created = await gate.send({ method: "POST", target: JOBS, headers: [JSON_TYPE], body });
  assert.equal(created.status, 201);
  assert.equal(await gate.received(), 3);
});
