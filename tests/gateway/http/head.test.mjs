import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";
import { describe, test } from "node:test";
import { startWithWrangler } from "../../harness/wrangler.mjs";
import { before, JOBS, PROJECT, startGate, useGate, VIEWS } from "../recorded_gateway.mjs";
import { BUILT_SCRIPT, configWith } from "../wrangler_config.mjs";

const gate = useGate("head");

test("every response has the gateway's time in Date, which corrects the clock of a client", async () => {
  for (const target of [`${VIEWS}?limit=1`, "/session/methods", "/v2/nowhere"]) {
    const start = Math.floor(Date.now() / 1000) * 1000;
    const { headers } = await gate.get(target);
    const [[, date] = []] = headers.filter(([name]) => name.toLowerCase() === "date");
    assert.match(date, /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/, target);
    assert.ok(start <= Date.parse(date) && Date.parse(date) <= Date.now(), date);
  }
});

describe("HEAD", () => {
  /** Header fields that differ between requests or describe the body. */
  const IGNORED_FIELDS = [
    ...["date", "x-request-id", "server-timing", "age", "ratelimit"],
    ...["content-length", "transfer-encoding"],
  ];
  /** Returns the status and the comparable fields of a response. */
  const headOf = ({ status, headers }) => [
    status,
    headers.filter(([name]) => !IGNORED_FIELDS.includes(name)).sort(),
  ];
  let id;

  before(async () => {
    id = (await gate.post(JOBS, { prompt: "to be read" })).json.id;
    await gate.upstream.setJob(id, { status: "completed" });
  });

  for (const [what, target, headers = []] of [
    ["page views", () => `${VIEWS}?limit=1`],
    ["unchanged page views", () => `${VIEWS}?limit=1`, [["If-None-Match", "*"]]],
    ["a job", () => `${JOBS}/${id}`],
    ["a job with Prefer: wait", () => `${JOBS}/${id}`, [["Prefer", "wait=1"]]],
    ["an unknown job", () => `${JOBS}/nowhere`],
    ["the list of jobs", () => `${JOBS}s`],
    ["the events of a job", () => `${JOBS}/${id}/events`],
    ["an unknown route", () => "/v2/nowhere"],
    ["an invalid parameter", () => `${VIEWS}?limit=0`],
    ["the OpenAPI description", () => "/openapi.json"],
  ]) {
    test(`responds to HEAD with the header fields of GET and no body for ${what}`, async () => {
      await gate.get(target(), { headers });
      const read = await gate.get(target(), { headers });
      const head = await gate.send({ method: "HEAD", target: target(), headers });
      assert.deepEqual(headOf(head), headOf(read));
      assert.deepEqual([head.complete, head.body.length], [true, 0]);
    });
  }

  test("adds no watcher and polls no job for HEAD of an event stream", async () => {
    const received = await gate.received();
    for (const stream of [`${JOBS}/nowhere/events`, `${JOBS}/${id}/events`, `${JOBS}s/events`]) {
      assert.equal((await gate.send({ method: "HEAD", target: stream })).status, 200);
    }
    assert.equal(await gate.received(), received);
    const target = `/healthz?deep&project=${PROJECT}`;
    const claims = { scope: "gateway:operate" };
    while ((await gate.read(target, { claims })).project.watchers !== 0);
  });
});

test("sends Strict-Transport-Security with every response over https", async (context) => {
  const config = configWith({ path: BUILT_SCRIPT });
  // The Worker sees this host and scheme in every request.
  appendFileSync(config, '\n[dev]\nhost = "gate.example"\nupstream_protocol = "https"\n');
  const options = { startWith: startWithWrangler, gateway: { config } };
  const secure = await startGate("head-https", options);
  context.after(() => secure.stop());
  for (const [method, target, authorization] of [
    ...["/healthz", "/openapi.json", `${JOBS}/nowhere`, VIEWS].map((target) => ["GET", target]),
    ...["/", "/v2/nowhere", VIEWS].map((target) => ["GET", target, null]),
    ["OPTIONS", VIEWS, null],
  ]) {
    const answer = await secure.send({ method, target, authorization });
    const policy = answer.header("strict-transport-security");
    assert.equal(policy, "max-age=31536000", `${method} ${target}`);
  }
});
