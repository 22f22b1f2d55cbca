/** Which values and bodies are refused, before anything goes upstream. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import { assertInvalid, assertProblem, JOBS, startGate, VIEWS } from "./gate.mjs";

const CAP = 128 * 1024;
const JSON_TYPE = ["Content-Type", "application/json"];

let gate;

before(async () => {
  gate = await startGate("input");
});
after(() => gate?.stop());

describe("a query", () => {
  const refuses = (query, field, rule) =>
    test(`refuses ${query}`, async () => {
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
    refuses(`limit=${limit}`, "limit", "page-size");
  }
  refuses("limit", "limit", "page-size");
  for (const offset of ["-1", "-0", "1.5", "", "1e3", "%2B1", "9007199254740992", "abc"]) {
    refuses(`offset=${offset}`, "offset", "offset");
  }
  for (const day of ["2024-02-30", "2023-02-29", "2024-13-01", "2024-00-01", "2024-01-32"]) {
    refuses(`dateFrom=${day}`, "dateFrom", "calendar-date");
    refuses(`dateTo=${day}T00:00:00Z`, "dateTo", "calendar-date");
  }
  refuses("dateTo=2024-01-01T24:00:00Z", "dateTo", "calendar-date");
  for (const text of [
    "",
    "yesterday",
    "2024-1-1",
    "20240101",
    "1704067200",
    "2024-01-01T00:00:00+01:00",
  ]) {
    refuses(`dateFrom=${text}`, "dateFrom", "date-format");
  }
  refuses("dateFrom=2024-01-02&dateTo=2024-01-01", "dateFrom", "before-date-to");
  refuses("dateFrom=2024-01-01&dateTo=2024-01-01", "dateFrom", "before-date-to");
  refuses(
    "dateFrom=2024-01-01T01:00:00%2B01:00&dateTo=2024-01-01T00:00:00Z",
    "dateFrom",
    "before-date-to",
  );
  for (const twice of [
    "limit=5&limit=5",
    "limit=5&limit=250",
    "limit=5&%6cimit=250",
    "limit=5&offset=0&limit=5",
  ]) {
    refuses(twice, "limit", "once");
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
    refuses(unknown, name, "unknown");
  }
  refuses("limit=%", "limit", "text");
  refuses("limit=%ff", "limit", "text");

  test("refuses any for the operations that have none", async () => {
    for (const query of ["prompt=x", "id=j2", "limit=5"]) {
      const name = query.split("=")[0];
      assertInvalid(await gate.get(`${JOBS}/j1?${query}`), name, "unknown");
      assertInvalid(await gate.post(`${JOBS}?${query}`, { prompt: "x" }), name, "unknown");
      const followUp = await gate.post(`${JOBS}/j1/message?${query}`, { prompt: "x" });
      assertInvalid(followUp, name, "unknown");
    }
  });
});

describe("a question for the list of jobs", () => {
  const refuses = (query, field, rule) =>
    test(`refuses ${query}`, async () => {
      assertInvalid(await gate.get(`${JOBS}s?${query}`), field, rule);
    });

  for (const limit of ["0", "101", "-1", "", "1e1", "%2B5", "5.0", "abc", "99999999999999999999"]) {
    refuses(`limit=${limit}`, "limit", "job-page-size");
  }
  refuses("cursor=", "cursor", "not-empty");
  for (const cursor of ["x", "1.2", "-", "%00", "..%2F", "'%20OR%201=1--"]) {
    refuses(`cursor=${cursor}`, "cursor", "cursor");
  }
  refuses("limit=5&limit=5", "limit", "once");
  refuses("offset=1", "offset", "unknown");
  refuses("status=active", "status", "unknown");
});

test("a question for a job's changes has no query", async () => {
  assertInvalid(await gate.get(`${JOBS}/j1/events?after=1`), "after", "unknown");
});

describe("a header field of a request that writes", () => {
  const refuses = (name, value, rule) =>
    test(`is refused: ${name}: ${value}`, async () => {
      for (const target of [JOBS, `${JOBS}/j1/message`]) {
        const headers = [[name, value]];
        assertInvalid(await gate.post(target, { prompt: "x" }, { headers }), name, rule(target));
      }
    });

  refuses("Idempotency-Key", '"half', () => "idempotency-key");
  refuses("Idempotency-Retry", "perhaps", () => "idempotency-retry");
  refuses("Webhook-Url", "https://hooks.example/", (target) =>
    target === JOBS ? "webhooks-off" : "create-only",
  );
});

describe("a body", () => {
  /** Sends it to both operations that have one. */
  async function posted(body, { headers = [JSON_TYPE], ...options } = {}) {
    const each = [JOBS, `${JOBS}/j1/message`].map((target) =>
      gate.send({ method: "POST", target, headers, body, ...options }),
    );
    return Promise.all(each);
  }

  const refuses = (what, body, field, rule) =>
    test(`refuses ${what}`, async () => {
      for (const answer of await posted(body)) assertInvalid(answer, field, rule);
    });

  refuses("no prompt", "{}", "prompt", "required");
  refuses("a prompt of null", '{"prompt":null}', "prompt", "required");
  refuses("an empty prompt", '{"prompt":""}', "prompt", "not-empty");
  for (const value of ["1", "true", "[]", '["x"]', "{}", '{"text":"x"}']) {
    refuses(`a prompt of ${value}`, `{"prompt":${value}}`, "prompt", "text");
  }
  for (const [what, body] of [
    ["nothing", ""],
    ["white space", " \n"],
    ["a form", "prompt=x"],
    ["half of it", '{"prompt":"x"'],
    ["an array", '[{"prompt":"x"}]'],
    ["a text", '"x"'],
    ["null", "null"],
    ["something behind it", '{"prompt":"x"}{"prompt":"y"}'],
    ["a comma too many", '{"prompt":"x",}'],
    ["a comment", '{"prompt":"x"}//'],
    ["a byte-order mark", '\u{feff}{"prompt":"x"}'],
    ["UTF-16", Buffer.from('{"prompt":"x"}', "utf16le")],
    ["no UTF-8", Buffer.from('{"prompt":"\xff"}', "latin1")],
    ["half a surrogate pair", '{"prompt":"\\ud800"}'],
    ["a member twice", '{"prompt":"x","prompt":"y"}'],
    ["a member twice, once in disguise", '{"prompt":"x","\\u0070rompt":"y"}'],
    ["deep nesting", `{"prompt":${"[".repeat(50_000)}`],
    ["compressed JSON", gzipSync('{"prompt":"x"}')],
  ]) {
    refuses(what, body, "body", "json-object");
  }
  for (const name of ["model", "Prompt", "id", "projectId", "__proto__", "constructor", ""]) {
    const body = JSON.stringify({ prompt: "x" }).replace("{", `{${JSON.stringify(name)}:"y",`);
    refuses(`a member "${name}"`, body, name, "unknown");
  }

  test("that is compressed is refused even when it says so", async () => {
    const headers = [JSON_TYPE, ["Content-Encoding", "gzip"]];
    for (const answer of await posted(gzipSync('{"prompt":"x"}'), { headers })) {
      assertInvalid(answer, "body", "json-object");
    }
  });

  test("of any other type is refused", async () => {
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
      for (const answer of await posted('{"prompt":"x"}', { headers })) {
        assertProblem(answer, 415, "unsupported-media-type");
        assert.equal(answer.header("accept-post"), "application/json");
      }
    }
  });

  test("over the cap is refused by its announced length, before any of it is there", async () => {
    for (const length of [CAP + 1, 10 ** 12]) {
      for (const target of [JOBS, `${JOBS}/j1/message`]) {
        const id = `announces-${length}-for-${target.length}`;
        const headers = [JSON_TYPE, ["Content-Length", String(length)], ["X-Request-Id", id]];
        const exchange = gate.open(gate.bytes({ method: "POST", target, headers }));
        // The local runtime keeps the answer back until the body has come; the log does not.
        const { status, problem } = await gate.logged(id);
        assert.deepEqual([status, problem], [413, "content-too-large"]);
        exchange.leave();
      }
    }
  });

  test("over the cap is refused when its length is not announced", async () => {
    const body = JSON.stringify({ prompt: "x".repeat(CAP) });
    for (const answer of await posted(body, { chunked: true })) {
      assertProblem(answer, 413, "content-too-large");
    }
  });

  test("one byte over the cap is refused either way", async () => {
    const body = JSON.stringify({ prompt: "x".repeat(CAP + 1 - '{"prompt":""}'.length) });
    assert.equal(body.length, CAP + 1);
    for (const chunked of [false, true]) {
      for (const answer of await posted(body, { chunked })) {
        const { detail } = assertProblem(answer, 413, "content-too-large");
        assert.match(detail, new RegExp(`\\b${CAP} bytes`));
      }
    }
  });

  test("longer than it announced is cut there, and then is no JSON", async () => {
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

  test("of two lengths, or of a length that is none, is refused", async () => {
    for (const lengths of [["14", "15"], ["-1"], ["1e1"], ["0x0e"], ["14, 15"]]) {
      const headers = [JSON_TYPE, ...lengths.map((length) => ["Content-Length", length])];
      for (const answer of await posted('{"prompt":"x"}', { headers })) {
        assert.ok(answer.status >= 400 || answer.status === undefined, answer.raw.toString());
      }
    }
  });
});

test("no refusal repeats a prompt", async () => {
  const prompt = "a-confidential-prompt";
  for (const json of [{ prompt, x: 1 }, { prompt: [prompt] }, [prompt]]) {
    const answer = await gate.post(JOBS, json);
    assert.equal(answer.status, 400);
    assert.ok(!answer.raw.includes(prompt));
  }
  assert.ok(!gate.gateway.log().includes(prompt));
});

test("nothing of all this has reached the upstream, which good values then do", async () => {
  assert.equal(await gate.received(), 0);
  assert.equal((await gate.get(`${VIEWS}?limit=250&offset=0&dateFrom=2024-02-29`)).status, 200);
  assert.equal((await gate.post(JOBS, { prompt: "x" })).status, 201);
  assert.equal(await gate.received(), 2);
});

test("neither answers nor log hold the admin key, the secret or a token", () =>
  gate.assertDiscreet());
