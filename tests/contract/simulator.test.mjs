/** The simulator against Mintlify's descriptions. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { startUpstream } from "../harness/upstream.mjs";
import { findPublished } from "./compare.mjs";
import { readDeclared } from "./declared.mjs";
import { assertExpected, SIMULATED } from "./expected.mjs";
import { close, readPublished, SKIP } from "./published.mjs";

const KEY = "mint_contract_key";
const PROJECT = "demo-docs";
/** A project whose plan has no previews. */
const PROJECT_WITHOUT_PREVIEWS = "free-docs";
/** Mintlify's rate limits. Those for reading jobs and deployments are the gateway's. */
const LIMITS = ["create-job", "send-message", "analytics", "create-deployment", "create-preview"];
const UNLIMITED = 1_000_000;
const DEPLOYMENT_MS = 90_000;
const BODY = { prompt: "Fix the typing errors on the start page.", branch: "docs/fix-typos" };
const UNKNOWN = {
  id: "no-such-job",
  threadId: "01ARZ3NDEKTSV4RRFFQ69G5FAV",
  statusId: "656000000000000000000000",
  workflowSchemaId: "unknown-automation",
};
/** Ids of objects that an operation rejects. */
const REJECTED = { workflowSchemaId: ["unscheduled-automation", "inactive-automation"] };
/** Operations that return 404, although their descriptions have no errors. */
const UNPUBLISHED_404 = ["deployments.get"];
/** The schema of an error, for operations whose description has none. */
const ERROR = { type: "object", properties: { error: { type: "string" } } };

const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true });
addFormats(ajv);
ajv.addFormat("ulid", /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/i);
ajv.addVocabulary(["example"]);

describe("the simulator", { skip: SKIP }, () => {
  let upstream;
  let operations;
  let existing;
  /** The published statuses that the simulator returned, by operation. */
  const seen = new Map();
  const lines = new Set();

  before(async () => {
    const published = await readPublished();
    const declared = await readDeclared();
    operations = declared.map((operation) => ({
      ...operation,
      published: findPublished(operation, published),
    }));
    for (const { name, published } of operations) assert.ok(published, `${name} is not published`);
    const limits = ["create", "message", "analytics", "deployment", "preview"];
    upstream = await startUpstream({
      ...{ key: KEY, profile: "published", pages: 300 },
      projects: [PROJECT, "empty-docs", PROJECT_WITHOUT_PREVIEWS],
      ...{ jobDurationMs: 1, deploymentDurationMs: DEPLOYMENT_MS },
      ...Object.fromEntries(limits.map((name) => [`${name}Limit`, UNLIMITED])),
    });
    existing = {
      id: (await send("agentJobs.create", validRequest(find("agentJobs.create")))).json.id,
      threadId: (await send("analytics.conversations")).json.conversations[0].id,
      statusId: (await send("deployments.create")).json.statusId,
      workflowSchemaId: "weekly-changelog",
    };
  });
  after(() => upstream?.stop());

  function find(name) {
    return operations.find((operation) => operation.name === name);
  }

  async function send(
    name,
    { project = PROJECT, path = existing, query = {}, body, key = KEY } = {},
  ) {
    const { method, path: template } = find(name);
    const segments = { projectId: project, ...path };
    const target = template.replaceAll(/\{(\w+)\}/g, (_, name) =>
      encodeURIComponent(segments[name]),
    );
    const response = await fetch(`${upstream.url}${target}?${new URLSearchParams(query)}`, {
      method,
      headers: {
        ...(key && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const json = await response.json();
    checkResponse(find(name), response.status, json);
    return { status: response.status, json };
  }

  /** Checks a response. One with an unpublished status must match a published refusal. */
  function checkResponse({ name, published }, status, json) {
    const { responses, resolve } = published;
    if (status in responses) note(name, status);
    else lines.add(`${name}: ${status} is not published`);
    const anyRefusal = Object.keys(responses).find((other) => other >= 400);
    const schema = responses[status] ?? responses[anyRefusal] ?? ERROR;
    const validate = ajv.compile(close(schema, resolve));
    const errors = validate(json) ? "" : ajv.errorsText(validate.errors);
    assert.equal(errors, "", `${name}, ${status}`);
  }

  function note(name, status) {
    if (!seen.has(name)) seen.set(name, new Set());
    seen.get(name).add(String(status));
  }

  function successOf({ published }) {
    return Number(Object.keys(published.responses).find((status) => status < 300));
  }

  function validRequest({ parameters }) {
    const properties = parameters.filter((parameter) => parameter.in === "body");
    if (properties.length === 0) return {};
    return { body: Object.fromEntries(properties.map(({ name }) => [name, BODY[name]])) };
  }

  function hasProject({ path }) {
    return path.includes("{projectId}");
  }

  async function each(context, run, matches = () => true) {
    for (const operation of operations.filter(matches)) {
      await context.test(operation.name, () => run(operation));
    }
  }

  test("the simulator returns the published success of every operation", (context) =>
    each(context, async (operation) => {
      const { status } = await send(operation.name, validRequest(operation));
      assert.equal(status, successOf(operation));
    }));

  test("the simulator returns jobs in every published state", async () => {
    const states = new Set();
    for (const prompt of ["Write.", "[no-changes]", "[fail]", "[archive]"]) {
      const { id, status } = (await send("agentJobs.create", { body: { prompt } })).json;
      states.add(status);
      // A job finishes after one millisecond and is archived after another.
      await setTimeout(20);
      states.add((await send("agentJobs.get", { path: { id } })).json.status);
    }
    const { published } = find("agentJobs.get");
    const { properties } = published.resolve(published.responses[200]);
    assert.deepEqual([...states].sort(), properties.status.enum.toSorted());
  });

  test("the simulator returns deployments and previews in every published state", async () => {
    const states = new Set();
    const read = async (statusId) => {
      const { status } = (await send("deployments.get", { path: { statusId } })).json;
      states.add(status);
      return status;
    };
    for (const [course, end] of [
      ["success", "success"],
      ["fail", "failure"],
      ["live-failure", "failure"],
      ["stuck", "in_progress"],
    ]) {
      for (const name of ["deployments.create", "previews.create"]) {
        await upstream.queueCourse(course);
        const { statusId } = (await send(name, validRequest(find(name)))).json;
        await read(statusId);
        await upstream.forwardClock(DEPLOYMENT_MS);
        assert.equal(await read(statusId), end, `${name} ${course}`);
      }
    }
    const { published } = find("deployments.get");
    const { properties } = published.resolve(published.responses[200]);
    assert.deepEqual([...states].sort(), properties.status.enum.toSorted());
  });

  test("the simulator returns valid pages of every list, both full and empty", (context) => {
    const findLimit = ({ parameters }) => parameters.find(({ name }) => name === "limit");
    const compareRows = async (operation) => {
      const { maximum } = findLimit(operation);
      const count = async (project) => {
        const { status, json } = await send(operation.name, { project, query: { limit: maximum } });
        assert.equal(status, 200);
        return Object.values(json).find(Array.isArray).length;
      };
      assert.equal(await count("empty-docs"), 0);
      assert.ok((await count(PROJECT)) > 50);
    };
    return each(context, compareRows, findLimit);
  });

  test("the simulator accepts every bound of a parameter and rejects values beyond it", (context) =>
    each(context, async (operation) => {
      const { name, published } = operation;
      let refused = 0;
      for (const parameter of published.parameters) {
        const declared = operation.parameters.find(({ name: other }) => other === parameter.name);
        const { valid, invalid } = boundaryValues(parameter, declared, published.resolve);
        for (const value of valid) {
          const { status } = await send(name, withValue(operation, parameter, value));
          assert.equal(status, successOf(operation), `${parameter.name}=${value}`);
        }
        for (const value of invalid) {
          const { status } = await send(name, withValue(operation, parameter, value));
          assert.equal(status, 400, `${parameter.name}=${value}`);
          refused += 1;
        }
      }
      assert.equal(refused > 0, "400" in published.responses);
    }));

  /** The options of a valid request with one value replaced, or left out if it is `undefined`. */
  function withValue(operation, { in: place, name }, value) {
    if (place === "path")
      return { ...validRequest(operation), path: { ...existing, [name]: value } };
    const request = validRequest(operation);
    if (place === "body") return { body: { ...request.body, [name]: value } };
    return { ...request, query: { [name]: value } };
  }

  test("the simulator returns 401 for a missing or unknown key and 403 for another project", (context) =>
    each(context, async (operation) => {
      const request = validRequest(operation);
      for (const key of [undefined, "mint_another_key"]) {
        const { status } = await send(operation.name, { ...request, key: key ?? "" });
        assert.equal(status, 401);
      }
      if (!hasProject(operation)) return;
      const { status } = await send(operation.name, { ...request, project: "other-docs" });
      assert.equal(status, 403);
    }));

  test("the simulator returns 403 for a plan, in exactly the operations that publish it", (context) => {
    const sendWithoutPlan = async (operation) => {
      const request = { ...validRequest(operation), project: PROJECT_WITHOUT_PREVIEWS };
      const { status } = await send(operation.name, request);
      assert.equal(status, "403" in operation.published.responses ? 403 : 401);
    };
    return each(context, sendWithoutPlan, hasProject);
  });

  test("the simulator returns 404 for unknown ids, in exactly the operations that publish it", (context) => {
    const hasId = ({ parameters }) => parameters.some(({ name }) => name in UNKNOWN);
    const expected = operations.filter(
      ({ name, published }) => "404" in published.responses || UNPUBLISHED_404.includes(name),
    );
    assert.deepEqual(expected, operations.filter(hasId));
    const sendUnknown = async (operation) => {
      const { status } = await send(operation.name, { ...validRequest(operation), path: UNKNOWN });
      assert.equal(status, 404);
    };
    return each(context, sendUnknown, hasId);
  });

  test("the simulator returns 429 where Mintlify documents a limit", async (context) => {
    await upstream.setLimits({ create: 0, message: 0, analytics: 0, deployment: 0, preview: 0 });
    await each(context, async (operation) => {
      const { status } = await send(operation.name, validRequest(operation));
      assert.equal(status, LIMITS.includes(operation.policy) ? 429 : successOf(operation));
    });
    const unlimited = { create: null, message: null, analytics: null };
    await upstream.setLimits({ ...unlimited, deployment: null, preview: null });
  });

  test("the simulator returns an injected 500 in the published shape", (context) => {
    const fail = async (operation) => {
      const { name } = operation;
      await upstream.fault({ operation: name, fault: { kind: "status", status: 500 } });
      assert.equal((await send(name, validRequest(operation))).status, 500);
    };
    return each(context, fail, ({ published }) => "500" in published.responses);
  });

  test("the simulator returned every published status and only the intended others", () => {
    for (const { name, published } of operations) {
      assert.deepEqual([...seen.get(name)].sort(), Object.keys(published.responses).sort(), name);
    }
    assertExpected([...lines], SIMULATED);
  });
});

/** Values at the bounds and beyond. The declaration decides which strings are dates. */
function boundaryValues({ name, required, schema, in: place }, declared, resolve) {
  const { type, format, enum: known, minimum, maximum, minLength } = resolve(schema);
  const valid = [];
  const invalid = [...(REJECTED[name] ?? [])];
  if (known !== undefined) {
    valid.push(...known);
    invalid.push("no-such-value");
  }
  if (type === "integer" || type === "number") invalid.push("x", "");
  if (minimum !== undefined) {
    valid.push(minimum);
    invalid.push(minimum - 1);
  }
  if (maximum !== undefined) {
    valid.push(maximum);
    invalid.push(maximum + 1);
  }
  if (minLength !== undefined) {
    valid.push("x".repeat(minLength));
    invalid.push("x".repeat(minLength - 1));
  }
  if (format === "ulid")
    invalid.push("x", "81ARZ3NDEKTSV4RRFFQ69G5FAV", "01ARZ3NDEKTSV4RRFFQ69G5FAU");
  if (declared?.kind === "date") {
    valid.push("2024-02-29", "2024-02-29T00:00:00Z");
    invalid.push("2023-02-29", "x");
  }
  if (place === "body") invalid.push(1, ...(required ? [undefined] : []));
  return { valid, invalid };
}
