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

  for (const path of [
    ...[`${VIEWS}/`, `${JOBS}/`, `${JOBS}/j1/`, `${JOBS}/j1/message/`, "/v2/"],
    ...[`${JOBS}s/`, `${JOBS}/j1/events/`, "/openapi.json/"],
  ]) {
    notFound("a trailing slash", path);
  }
  for (const path of [
    `/${VIEWS}`,
    `//evil.example${VIEWS}`,
    `/v1//analytics/${PROJECT}/views`,
    "/v1/analytics//views",
    `/v2/agent/${PROJECT}//job`,
    `${JOBS}//message`,
    `${JOBS}//j1`,
  ]) {
    notFound("an empty segment", path);
  }
  for (const path of [
    `/%76%31/analytics/${PROJECT}/views`,
    `/v1/analytics/${PROJECT}/view%73`,
    `/v1%2Fanalytics/${PROJECT}/views`,
    `/v1/analytics/${PROJECT}%2fviews`,
    `/v2/agent/${PROJECT}/j%6Fb`,
    `/v2/agent/${PROJECT}/job/j1/%6dessage`,
    `/v2/agent/${PROJECT}/job/j1/event%73`,
    `/v2/agent/${PROJECT}/job%73`,
    `/v1%5canalytics%5c${PROJECT}%5cviews`,
    `${VIEWS}%20`,
    `${VIEWS}%00`,
    `${VIEWS}%3Flimit=5`,
    `${VIEWS}%23`,
    `${VIEWS}%0d%0aX-Injected:%201`,
  ]) {
    notFound("percent-encoded route segments", path);
  }
  for (const path of [
    `/V1/analytics/${PROJECT}/views`,
    `/v1/Analytics/${PROJECT}/views`,
    `/v1/analytics/${PROJECT}/VIEWS`,
    `/v2/agent/${PROJECT}/JOB`,
    `/v2/agent/${PROJECT}/Jobs`,
    `${JOBS}/j1/Events`,
  ]) {
    notFound("upper-case letters", path);
  }
  for (const path of [
    `${VIEWS};x=1`,
    `/v1;x=1/analytics/${PROJECT}/views`,
    `/v2/agent/${PROJECT}/job;jsessionid=1`,
    `${VIEWS}.json`,
  ]) {
    notFound("a path parameter or file extension", path);
  }
  for (const path of [
    `${JOBS}/..`,
    `${JOBS}/.`,
    `${VIEWS}/..`,
    `${VIEWS}/%2e%2e/%2e%2e`,
    `/../../../etc/passwd`,
    `/healthz/%2e%2e/v9`,
  ]) {
    notFound("dot segments that lead elsewhere", path);
  }
  for (const path of [
    "/v1",
    "/v2/agent",
    `/v2/agent/${PROJECT}`,
    `/v1/agent/${PROJECT}/jobs`,
    `${JOBS}s/j1`,
    `${JOBS}s/events/1`,
    `${JOBS}/j1/records`,
    `${JOBS}/j1/event`,
    `${JOBS}/j1/events/1`,
    `/v1/agent/${PROJECT}/job`,
    `/v2/analytics/${PROJECT}/views`,
    `/v1/analytics/${PROJECT}/referrers`,
    `${JOBS}/j1/messages`,
    `${JOBS}/j1/message/1`,
    "/__control/requests",
    "/v2/../__control/requests",
    "/v1/__control/keys",
  ]) {
    notFound("no matching operation", path);
  }

  test("rejects an id or a project id that is an encoded dot segment", async () => {
    for (const dots of ["%2e%2e", ".%2e", "%2E.", "%2e"]) {
      assertInvalid(await gate.get(`${JOBS}/${dots}`), "id", "not-dot-segment");
      const views = await gate.get(`/v1/analytics/${dots}/views`);
      assertInvalid(views, "projectId", "not-dot-segment");
    }
    assertInvalid(await gate.get(`${JOBS}/j1\\..`), "id", "path-segment");
  });

  test("never opens another project through dot segments", async () => {
    for (const dots of ["..", "%2e%2e", ".%2E", "%2e."]) {
      // The runtime resolves plain dot segments, so the request is for another project. Encoded dot
      // segments match no route.
      const expected = dots === ".." ? [403, "project-not-allowed"] : [404, "not-found"];
      for (const path of [
        `/v2/agent/${PROJECT}/${dots}/other-docs/job/j1`,
        `${JOBS}/j1/${dots}/${dots}/${dots}/other-docs/job/j1`,
        `/v1/analytics/${PROJECT}/${dots}/other-docs/views`,
      ]) {
        assertProblem(await gate.get(path), ...expected);
      }
      const backslashes = `/v1/analytics/${PROJECT}\\${dots}\\other-docs\\views`;
      assertProblem(await gate.get(backslashes), 404, "not-found");
    }
  });

  test("rejects an id with encoded separators or control characters", async () => {
    for (const id of [
      ...["%2f", "%2F", "a%2fb", "..%2f..%2fother-docs", "j1%2fmessage", "%5c", "a%5Cb", "..%5C.."],
      ...["%252f", "%25", "%252e%252e", "%25%32%66", "%3f", "a%3Fx=1", "%23", "a%23b"],
      ...["%00", "j1%00", "%0a", "%0d%0aX-Injected:%201", "%09", "%7f", "%c2%85"],
      ...["%c0%ae%c0%ae", "%c0%af", "%e0%80%af", "%ff", "%c3", "%ed%a0%80"],
      ...["%", "%2", "%zz", "%u002f", "a%"],
    ]) {
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

  test("does not extend the liveness route's open access to other paths", async () => {
    for (const target of [
      "/healthz/",
      "/healthz/../v9",
      `/healthz/%2e%2e${VIEWS}`,
      "/Healthz",
      "//healthz",
      "/healthz%2f",
    ]) {
      assertProblem(await gate.get(target, { authorization: null }), 404, "not-found");
    }
    for (const target of [`/healthz/..${VIEWS}`, `${VIEWS}?/healthz`, `${VIEWS}#/healthz`]) {
      assertProblem(await gate.get(target, { authorization: null }), 401, "missing-token");
    }
    const headers = [
      ["User-Agent", "GoogleHC/1.0"],
      ["X-Original-URL", "/healthz"],
      ["X-Forwarded-Uri", "/healthz"],
    ];
    const answer = await gate.get(VIEWS, { authorization: null, headers });
    assertProblem(answer, 401, "missing-token");
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

test("keeps the admin key, the secret and tokens out of responses and the log", () =>
  gate.assertDiscreet());
