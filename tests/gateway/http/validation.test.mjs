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

  for (const limit of [
    ...["0", "251", "10abc", "-1", "", "1e2", "+5", "%2B5", "%205", "5%20", "5.0", "0x10", "00x5"],
    ...[
      "%EF%BC%95",
      "%D9%A5",
      "NaN",
      "null",
      "5,6",
      "5;6",
      "5%00",
      "5%0D%0A",
      "99999999999999999999",
    ],
  ]) {
    rejects(`limit=${limit}`, "limit", "page-size");
  }
  rejects("limit", "limit", "page-size");
  for (const offset of ["-1", "-0", "1.5", "", "1e3", "%2B1", "9007199254740992", "abc"]) {
    rejects(`offset=${offset}`, "offset", "offset");
  }
  for (const day of ["2024-02-30", "2023-02-29", "2024-13-01", "2024-00-01", "2024-01-32"]) {
    rejects(`dateFrom=${day}`, "dateFrom", "calendar-date");
    rejects(`dateTo=${day}T00:00:00Z`, "dateTo", "calendar-date");
  }
  rejects("dateTo=2024-01-01T24:00:00Z", "dateTo", "calendar-date");
  for (const date of ["", "yesterday", "2024-1-1", "20240101", "1704067200"]) {
    rejects(`dateFrom=${date}`, "dateFrom", "date-format");
  }
  rejects("dateFrom=2024-01-02&dateTo=2024-01-01", "dateFrom", "before-date-to");
  rejects("dateFrom=2024-01-01&dateTo=2024-01-01", "dateFrom", "before-date-to");
  rejects(
    "dateFrom=2024-01-01T01:00:00%2B01:00&dateTo=2024-01-01T00:00:00Z",
    "dateFrom",
    "before-date-to",
  );
  for (const duplicate of [
    "limit=5&limit=5",
    "limit=5&limit=250",
    "limit=5&%6cimit=250",
    "limit=5&offset=0&limit=5",
  ]) {
    rejects(duplicate, "limit", "once");
  }
  for (const [unknown, name] of [
    ["x=1", "x"],
    ["Limit=5", "Limit"],
    ["limit[]=5", "limit[]"],
    ["limit=5;offset=1&cursor=2", "cursor"],
    ["projectId=other-docs", "projectId"],
    ["__proto__=1", "__proto__"],
    ["limit%00=5", "limit\u{fffd}"],
  ]) {
    rejects(unknown, name, "unknown");
  }
  rejects("limit=%", "limit", "text");
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

  for (const limit of ["0", "101", "-1", "", "1e1", "%2B5", "5.0", "abc", "99999999999999999999"]) {
    rejects(`limit=${limit}`, "limit", "page-size");
  }
  rejects("cursor=", "cursor", "not-empty");
  for (const cursor of ["x", "1.2", "-", "%00", "..%2F", "'%20OR%201=1--"]) {
    rejects(`cursor=${cursor}`, "cursor", "cursor");
  }
  rejects("limit=5&limit=5", "limit", "once");
  rejects("offset=1", "offset", "unknown");
  rejects("status=active", "status", "unknown");
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
  for (const value of ["1", "true", "[]", '["x"]', "{}", '{"text":"x"}']) {
    rejects(`has the prompt ${value}`, `{"prompt":${value}}`, "prompt", "text");
  }
  for (const [what, body] of [
    ["is empty", ""],
    ["is white space", " \n"],
    ["is a form", "prompt=x"],
    ["is truncated JSON", '{"prompt":"x"'],
    ["is an array", '[{"prompt":"x"}]'],
    ["is a string", '"x"'],
    ["is null", "null"],
    ["has trailing data", '{"prompt":"x"}{"prompt":"y"}'],
    ["has a trailing comma", '{"prompt":"x",}'],
    ["has a comment", '{"prompt":"x"}//'],
    ["is UTF-16", Buffer.from('{"prompt":"x"}', "utf16le")],
    ["is not UTF-8", Buffer.from('{"prompt":"\xff"}', "latin1")],
    ["has a lone surrogate", '{"prompt":"\\ud800"}'],
    ["has a duplicate property", '{"prompt":"x","prompt":"y"}'],
    ["has an escaped duplicate property", '{"prompt":"x","\\u0070rompt":"y"}'],
    ["is deeply nested", `{"prompt":${"[".repeat(50_000)}`],
    ["is compressed JSON", gzipSync('{"prompt":"x"}')],
  ]) {
    rejects(what, body, "body", "json-object");
  }
  for (const name of ["model", "Prompt", "id", "projectId", "__proto__", "constructor", ""]) {
    const body = JSON.stringify({ prompt: "x" }).replace("{", `{${JSON.stringify(name)}:"y",`);
    rejects(`has the unknown property "${name}"`, body, name, "unknown");
  }

  test("rejects a compressed body even with Content-Encoding: gzip", async () => {
    const headers = [JSON_TYPE, ["Content-Encoding", "gzip"]];
    for (const answer of await postToBoth(gzipSync('{"prompt":"x"}'), { headers })) {
      assertInvalid(answer, "body", "json-object");
    }
  });

  test("rejects a body whose media type is not application/json", async () => {
    for (const types of [
      [],
      [""],
      ["text/plain"],
      ["application/x-www-form-urlencoded"],
      ["multipart/form-data; boundary=x"],
      ["text/json"],
      ["application/jsonp"],
      ["application/problem+json"],
      ["application/json, text/plain"],
      ["text/plain; application/json"],
      ["application/json", "text/plain"],
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

test("keeps the admin key, the secret and tokens out of responses and the log", () =>
  gate.assertDiscreet());
