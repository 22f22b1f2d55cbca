/**
 * Routing. The gateway or the runtime rejects unknown paths, unsupported methods and malformed
 * request lines. None of these requests goes upstream.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import {
  assertInvalid,
  assertProblem,
  JOBS,
  PROJECT,
  startGate,
  VIEWS,
} from "../recorded_gateway.mjs";

let gate;

before(async () => {
  gate = await startGate("paths");
});
after(() => gate?.stop());

describe("a request path", () => {
  const notFound = (what, path) =>
    test(`returns 404 for a path with ${what}: ${path}`, async () => {
      assertProblem(await gate.get(path), 404, "not-found");
      const posted = await gate.post(path, { prompt: "x" });
      assertProblem(posted, 404, "not-found");
    });

  notFound("a trailing slash", `${VIEWS}/`);
  notFound("an empty segment", `/v2/agent/${PROJECT}//job`);
  notFound("percent-encoded route segments", `/v1/analytics/${PROJECT}/view%73`);
  notFound("an encoded line break", `${VIEWS}%0d%0aX-Injected:%201`);
  notFound("upper-case letters", `/v1/Analytics/${PROJECT}/views`);
  notFound("a path parameter", `${VIEWS};x=1`);
  notFound("dot segments that lead elsewhere", `/../../../etc/passwd`);
  notFound("encoded dot segments", `${VIEWS}/%2e%2e/%2e%2e`);
  notFound("no matching operation", `${JOBS}/j1/events/1`);
  notFound("a control route of the simulator", "/v2/../__control/requests");

  test("rejects an id or a project id that is an encoded dot segment", async () => {
    for (const dots of ["%2e%2e", ".%2e", "%2E.", "%2e"]) {
      assertInvalid(await gate.get(`${JOBS}/${dots}`), "id", "not-dot-segment");
      const views = await gate.get(`/v1/analytics/${dots}/views`);
      assertInvalid(views, "projectId", "not-dot-segment");
    }
    assertInvalid(await gate.get(`${JOBS}/j1\\..`), "id", "path-segment");
  });

  test("rejects an id with encoded separators or control characters", async () => {
    for (const id of ["..%2f..%2fother-docs", "a%5Cb", "%252f", "j1%00", "%0d%0aX", "%ff", "a%"]) {
      assertInvalid(await gate.get(`${JOBS}/${id}`), "id", "path-segment");
      assertInvalid(await gate.get(`${JOBS}/${id}/events`), "id", "path-segment");
      assertInvalid(await gate.get(`${JOBS}/${id}/record`), "id", "path-segment");
      const followUp = await gate.post(`${JOBS}/${id}/message`, { prompt: "x" });
      assertInvalid(followUp, "id", "path-segment");
      const list = await gate.get(`/v2/agent/${id}/jobs`);
      assertInvalid(list, "projectId", "path-segment");
      assertInvalid(await gate.get(`/v1/analytics/${id}/views`), "projectId", "path-segment");
    }
  });

  test("rejects a project id with encoded separators, and lookalikes of an allowed project", async () => {
    for (const project of [`${PROJECT}%2f..%2fother-docs`, `${PROJECT}%5c`, `other%2f${PROJECT}`]) {
      const answer = await gate.get(`/v1/analytics/${project}/views`);
      assertInvalid(answer, "projectId", "path-segment");
    }
    for (const project of [`${PROJECT};x`, `${PROJECT}.`, "demo%E2%80%90docs", `%20${PROJECT}`]) {
      const answer = await gate.get(`/v1/analytics/${project}/views`);
      assertProblem(answer, 403, "project-not-allowed");
    }
  });
});

describe("a request method", () => {
  const OTHERS = ["PUT", "DELETE", "PATCH", "TRACE", "PROPFIND", "QUERY"];

  for (const [target, allow, others] of [
    [VIEWS, "GET, HEAD, OPTIONS", ["POST", ...OTHERS]],
    [`${JOBS}/j1`, "GET, HEAD, OPTIONS", ["POST", ...OTHERS]],
    [`${JOBS}/j1/events`, "GET, HEAD, OPTIONS", ["POST", ...OTHERS]],
    [`${JOBS}s`, "GET, HEAD, OPTIONS", ["POST", ...OTHERS]],
    [`${JOBS}s/events`, "GET, HEAD, OPTIONS", ["POST", ...OTHERS]],
    [JOBS, "POST, OPTIONS", ["GET", "HEAD", ...OTHERS]],
    [`${JOBS}/j1/message`, "POST, OPTIONS", ["GET", "HEAD", ...OTHERS]],
  ]) {
    test(`returns 405 with Allow for unsupported methods of ${target}`, async () => {
      for (const method of others) {
        const answer = await gate.send({ method, target });
        if (answer.status === 501) continue; // The runtime does not support this method.
        assert.equal(answer.status, 405, method);
        assert.equal(answer.header("allow"), allow);
        if (method !== "HEAD") assertProblem(answer, 405, "method-not-allowed");
        if (method === "TRACE") assert.doesNotMatch(answer.text, /Bearer/);
      }
    });
  }

  test("responds to OPTIONS with the allowed methods, without a token", async () => {
    const answer = await gate.send({ method: "OPTIONS", target: VIEWS, authorization: null });
    assert.equal(answer.status, 204);
    assert.equal(answer.header("allow"), "GET, HEAD, OPTIONS");
  });

  test("rejects an unsupported method before it checks the token", async () => {
    const answer = await gate.send({ method: "DELETE", target: JOBS, authorization: null });
    assertProblem(answer, 405, "method-not-allowed");
  });

  test("rejects an invalid or unknown method in the runtime", async () => {
    for (const method of ["get", "FOO", "G ET", "CONNECT"]) {
      const answer = await gate.send({ method, target: VIEWS });
      assert.ok(answer.status === undefined || answer.status >= 400, `${method} ${answer.status}`);
    }
  });
});

describe("the liveness route", () => {
  test("responds to GET and HEAD of the liveness route without a token", async () => {
    for (const target of ["/healthz", "/healthz?x"]) {
      const answer = await gate.get(target, { authorization: null });
      assert.deepEqual([answer.status, answer.json], [200, { status: "ok" }]);
      assert.equal((await gate.send({ method: "HEAD", target })).status, 200);
    }
    for (const target of ["/healthz", "/openapi.json"]) {
      const posted = await gate.post(target, {});
      assertProblem(posted, 405, "method-not-allowed");
      assert.equal(posted.header("allow"), "GET, HEAD, OPTIONS");
      const options = await gate.send({ method: "OPTIONS", target, authorization: null });
      assert.deepEqual([options.status, options.header("allow")], [204, "GET, HEAD, OPTIONS"]);
    }
  });
});

describe("a malformed request line or head", () => {
  const rejects = (what, bytes) =>
    test(`rejects a request with ${what}`, async () => {
      const answer = await gate.sendBytes(Buffer.from(bytes(), "latin1"));
      assert.ok(answer.status === undefined || answer.status >= 400, answer.raw.toString());
      assert.doesNotMatch(answer.raw.toString(), /"totals"/);
    });
  const head = (line, fields = "") =>
    `${line}\r\nHost: ${gate.host}\r\nAuthorization: Bearer ${gate.token()}\r\n${fields}\r\n`;

  rejects("an absolute target", () => head(`GET http://${gate.host}${VIEWS} HTTP/1.1`));
  rejects("an absolute target at another host", () =>
    head(`GET http://evil.example${VIEWS} HTTP/1.1`),
  );
  rejects("an asterisk as target", () => head("GET * HTTP/1.1"));
  rejects("a relative target", () => head(`GET ${VIEWS.slice(1)} HTTP/1.1`));
  rejects("an empty target", () => head("GET  HTTP/1.1"));
  rejects("two Host fields", () => head(`GET ${VIEWS} HTTP/1.1`, "Host: evil.example\r\n"));
  rejects("two Content-Length fields", () =>
    head(`POST ${JOBS} HTTP/1.1`, "Content-Length: 5\r\nContent-Length: 6\r\n"),
  );
  rejects("a header field without a name", () => head(`GET ${VIEWS} HTTP/1.1`, ": x\r\n"));
  test("does not turn an encoded line break in a target into a header field", async () => {
    const target = `${VIEWS}?limit=0 HTTP/1.1\r\nX-Request-Id: injected\r\nX-Rest:`;
    const answer = await gate.get(target);
    assertInvalidWithId(answer, "injected");
    for (const encoded of ["%0d%0aX-Request-Id:%20evil", "%0aX-Request-Id:%20evil"]) {
      const refusal = await gate.get(`${VIEWS}?limit=${encoded}`);
      assertInvalid(refusal, "limit", "page-size");
      assert.notEqual(refusal.header("x-request-id"), "evil");
    }
  });

  function assertInvalidWithId(answer, id) {
    assert.deepEqual([answer.status, answer.header("x-request-id")], [400, id]);
  }

  test("does not execute a request smuggled in a body with two framings", async () => {
    const hidden = gate.bytes({ target: `${VIEWS}?limit=7` }).toString();
    const fields = [
      "Content-Type: application/json",
      `Content-Length: ${5 + hidden.length}`,
      "Transfer-Encoding: chunked",
    ];
    const outer = head(`POST ${JOBS}?limit=0 HTTP/1.1`, `${fields.join("\r\n")}\r\n`);
    // The query makes the outer request invalid under either framing.
    const answer = await gate.sendBytes(Buffer.from(`${outer}0\r\n\r\n${hidden}`, "latin1"));
    assert.ok(answer.status >= 400);
  });
});

test("sends none of the rejected requests upstream, but a valid request afterwards", async () => {
  assert.equal(await gate.received(), 0);
  assert.equal((await gate.get(VIEWS)).status, 200);
  assert.equal(await gate.received(), 1);
});
