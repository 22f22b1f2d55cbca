import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertProblem, JOBS, useGate, VIEWS } from "../recorded_gateway.mjs";

const gate = useGate("paths");

test("rejects an invalid or unknown method in the runtime", async () => {
  for (const method of ["get", "FOO", "G ET", "CONNECT"]) {
    const answer = await gate.send({ method, target: VIEWS });
    assert.ok(answer.status === undefined || answer.status >= 400, `${method} ${answer.status}`);
  }
});

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
