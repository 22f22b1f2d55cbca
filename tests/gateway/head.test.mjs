/** Heads of answers: HEAD is answered as GET is, and over https browsers are told to stay there. */
import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { BUILT_SCRIPT, configWith } from "./config.mjs";
import { JOBS, PROJECT, startGate, VIEWS } from "./gate.mjs";

let gate;

before(async () => {
  gate = await startGate("head");
});
after(() => gate?.stop());

describe("HEAD", () => {
  const OF_ONE_REQUEST = ["date", "x-request-id", "server-timing", "age", "ratelimit"];
  /** Of the body, which there is none of. */
  OF_ONE_REQUEST.push("content-length", "transfer-encoding");
  /** An answer without its body and what differs between two requests anyway. */
  const headOf = ({ status, headers }) => [
    status,
    headers.filter(([name]) => !OF_ONE_REQUEST.includes(name)).sort(),
  ];
  let id;

  before(async () => {
    id = (await gate.post(JOBS, { prompt: "to be read" })).json.id;
    await gate.upstream.setJob(id, { status: "completed" });
  });

  for (const [what, target, headers = []] of [
    ["page views", () => `${VIEWS}?limit=1`],
    ["page views that are known", () => `${VIEWS}?limit=1`, [["If-None-Match", "*"]]],
    ["a job", () => `${JOBS}/${id}`],
    ["a job that is waited for", () => `${JOBS}/${id}`, [["Prefer", "wait=1"]]],
    ["a job that there is not", () => `${JOBS}/nowhere`],
    ["the list of jobs", () => `${JOBS}s`],
    ["a job's changes", () => `${JOBS}/${id}/events`],
    ["the changes of a job that there is not", () => `${JOBS}/nowhere/events`],
    ["no such route", () => "/v2/nowhere"],
    ["a value that is refused", () => `${VIEWS}?limit=0`],
    ["the description", () => "/openapi.json"],
  ]) {
    test(`is answered as GET, without the body: ${what}`, async () => {
      await gate.get(target(), { headers });
      const read = await gate.get(target(), { headers });
      const head = await gate.send({ method: "HEAD", target: target(), headers });
      assert.deepEqual(headOf(head), headOf(read));
      assert.deepEqual([head.complete, head.body.length], [true, 0]);
    });
  }

  test("needs a token with the scope", async () => {
    for (const [token, status] of [
      [null, 401],
      [`Bearer ${gate.token({ scope: "analytics:read" })}`, 403],
    ]) {
      const options = { method: "HEAD", target: `${JOBS}s`, authorization: token };
      const answer = await gate.send(options);
      assert.deepEqual([answer.status, answer.body.length], [status, 0]);
    }
  });

  test("leaves nobody watching", async () => {
    const { id: open } = (await gate.post(JOBS, { prompt: "to be watched" })).json;
    const target = `${JOBS}/${open}/events`;
    assert.equal((await gate.send({ method: "HEAD", target })).status, 200);
    const authorization = `Bearer ${gate.token({ scope: "gateway:operate" })}`;
    for (;;) {
      const health = await gate.get(`/healthz?deep&project=${PROJECT}`, { authorization });
      if (health.json.project.watchers === 0) break;
    }
  });
});

describe("Strict-Transport-Security", () => {
  const POLICY = "max-age=31536000";
  const policyOf = async (asked, target, options) =>
    (await asked.get(target, options)).header("strict-transport-security");

  test("is in every answer over https", async () => {
    const { config, dispose } = configWith({ path: BUILT_SCRIPT });
    // For the Worker, every request is to this host.
    appendFileSync(config, '\n[dev]\nhost = "gate.example"\nupstream_protocol = "https"\n');
    const secure = await startGate("head-https", { gateway: { config } });
    try {
      for (const target of ["/healthz", "/openapi.json", `${JOBS}s`, `${JOBS}/nowhere`, VIEWS]) {
        assert.equal(await policyOf(secure, target), POLICY, target);
      }
      assert.equal(await policyOf(secure, VIEWS, { authorization: null }), POLICY);
      assert.equal(await policyOf(secure, "/v2/nowhere"), POLICY);
      const options = { method: "OPTIONS", target: VIEWS, authorization: null };
      assert.equal((await secure.send(options)).header("strict-transport-security"), POLICY);
      assert.equal(await policyOf(secure, "/", { authorization: null }), POLICY, "the page");
    } finally {
      await secure.stop();
      dispose();
    }
  });

  test("is in none over http, where it says nothing, nor on this machine", async () => {
    for (const target of ["/healthz", `${JOBS}s`]) {
      assert.equal(await policyOf(gate, target), undefined, target);
    }
  });
});
