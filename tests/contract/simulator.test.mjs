/**
 * The simulator beside the platform's own descriptions: each operation is asked so that it gives
 * every status, and each answer is checked against the published JSON Schema.
 */
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
/** Budgets of the platform; that of reading jobs is the gateway's own. */
const LIMITS = ["create-job", "send-message", "analytics"];
const HIGH = 1_000_000;
const PROMPT = { prompt: "Fix the typing errors on the start page." };
/** Nothing that exists. */
const UNKNOWN = { id: "no-such-job", threadId: "01ARZ3NDEKTSV4RRFFQ69G5FAV" };

const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true });
addFormats(ajv);
ajv.addFormat("ulid", /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/i);
ajv.addVocabulary(["example"]);

describe("the simulator", () => {
  let upstream;
  /** Each operation with its published description. */
  let operations;
  /** What stands in paths. */
  let existing;
  /** The published statuses that were seen, and lines about others. */
  const seen = new Map();
  const lines = new Set();

  before(async () => {
    if (SKIP) return;
    const published = await readPublished();
    const declared = await readDeclared();
    operations = declared.map((own) => ({ ...own, published: findPublished(own, published) }));
    for (const { name, published } of operations) assert.ok(published, `${name} is not published`);
    const unlimited = { createLimit: HIGH, messageLimit: HIGH, analyticsLimit: HIGH };
    upstream = await startUpstream({ key: KEY, pages: 300, jobDurationMs: 1, ...unlimited });
    existing = {
      id: (await ask("agentJobs.create", { body: PROMPT })).json.id,
      threadId: (await ask("analytics.conversations")).json.conversations[0].id,
    };
  });
  after(() => upstream?.stop());

  function find(name) {
    return operations.find((operation) => operation.name === name);
  }

  /** Sends a request of an operation, and checks the answer. */
  async function ask(
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
    checkAnswer(find(name), response.status, json);
    return { status: response.status, json };
  }

  /** A status that is not published is noted, and has to have the shape of the refusals that are. */
  function checkAnswer({ name, published }, status, json) {
    const { responses, resolve } = published;
    if (status in responses) note(name, status);
    else lines.add(`${name}: ${status} is not published`);
    const anyRefusal = Object.keys(responses).find((other) => other >= 400);
    const validate = ajv.compile(close(responses[status] ?? responses[anyRefusal], resolve));
    const errors = validate(json) ? "" : ajv.errorsText(validate.errors);
    assert.equal(errors, "", `${name}, ${status}`);
  }

  function note(name, status) {
    if (!seen.has(name)) seen.set(name, new Set());
    seen.get(name).add(String(status));
  }

  function success({ published }) {
    return Number(Object.keys(published.responses).find((status) => status < 300));
  }

  /** What makes a request of an operation one that succeeds. */
  function valid({ method }) {
    return method === "POST" ? { body: PROMPT } : {};
  }

  /** Runs a test of each operation, or of those that are wanted. */
  async function each(context, run, isWanted = () => true) {
    for (const operation of operations.filter(isWanted)) {
      await context.test(operation.name, () => run(operation));
    }
  }

  test("answers every operation with its published success", { skip: SKIP }, (context) =>
    each(context, async (operation) => {
      const { status } = await ask(operation.name, valid(operation));
      assert.equal(status, success(operation));
    }),
  );

  test("shows jobs in every published state", { skip: SKIP }, async () => {
    const states = new Set();
    for (const prompt of ["Write.", "[no-changes]", "[fail]", "[archive]"]) {
      const { id, status } = (await ask("agentJobs.create", { body: { prompt } })).json;
      states.add(status);
      // A job takes a millisecond, and a second one until it is archived.
      await setTimeout(20);
      states.add((await ask("agentJobs.get", { path: { id } })).json.status);
    }
    const { published } = find("agentJobs.get");
    const { properties } = published.resolve(published.responses[200]);
    assert.deepEqual([...states].sort(), properties.status.enum.toSorted());
  });

  test("answers the largest page of every list and an empty one as published", {
    skip: SKIP,
  }, (context) => {
    const findLimit = ({ parameters }) => parameters.find(({ name }) => name === "limit");
    const compareRows = async (operation) => {
      const { maximum } = findLimit(operation);
      const count = async (project) => {
        const { status, json } = await ask(operation.name, { project, query: { limit: maximum } });
        assert.equal(status, 200);
        return Object.values(json).find(Array.isArray).length;
      };
      assert.equal(await count("empty-docs"), 0);
      assert.ok((await count(PROJECT)) > 50);
    };
    return each(context, compareRows, findLimit);
  });

  test("takes each bound, and refuses what exceeds it", { skip: SKIP }, (context) =>
    each(context, async (operation) => {
      const { name, published } = operation;
      let refused = 0;
      for (const parameter of published.parameters) {
        const declared = operation.parameters.find((own) => own.name === parameter.name);
        const { good, bad } = boundsOf(parameter, declared, published.resolve);
        for (const value of good) {
          const { status } = await ask(name, withValue(operation, parameter, value));
          assert.equal(status, success(operation), `${parameter.name}=${value}`);
        }
        for (const value of bad) {
          const { status } = await ask(name, withValue(operation, parameter, value));
          assert.equal(status, 400, `${parameter.name}=${value}`);
          refused += 1;
        }
      }
      assert.equal(refused > 0, "400" in published.responses);
    }),
  );

  /** A request that is valid but for this value; one that is `undefined` is left out. */
  function withValue(operation, { in: place, name }, value) {
    if (place === "path") return { ...valid(operation), path: { ...existing, [name]: value } };
    if (place === "body") return { body: { ...PROMPT, [name]: value } };
    return { ...valid(operation), query: { [name]: value } };
  }

  test(
    "answers 401 without a key and with another one, and 403 for another project",
    { skip: SKIP },
    (context) =>
      each(context, async (operation) => {
        const request = valid(operation);
        for (const key of [undefined, "mint_another_key"]) {
          const { status } = await ask(operation.name, { ...request, key: key ?? "" });
          assert.equal(status, 401);
        }
        const { status } = await ask(operation.name, { ...request, project: "other-docs" });
        assert.equal(status, 403);
      }),
  );

  test("answers 404 where it is published, which is where a path has an id", {
    skip: SKIP,
  }, (context) => {
    const hasId = ({ parameters }) => parameters.some(({ name }) => name in UNKNOWN);
    const published = operations.filter(({ published }) => "404" in published.responses);
    assert.deepEqual(published, operations.filter(hasId));
    const askForUnknown = async (operation) => {
      const { status } = await ask(operation.name, { ...valid(operation), path: UNKNOWN });
      assert.equal(status, 404);
    };
    return each(context, askForUnknown, hasId);
  });

  test("answers 429 where a limit is published or stated", { skip: SKIP }, async (context) => {
    await upstream.setLimits({ create: 0, message: 0, analytics: 0 });
    await each(context, async (operation) => {
      const { status } = await ask(operation.name, valid(operation));
      assert.equal(status, LIMITS.includes(operation.policy) ? 429 : success(operation));
    });
    await upstream.restoreLimits();
  });

  test("answers a fault with 500 in the published shape", { skip: SKIP }, (context) => {
    const fail = async ({ name, method }) => {
      await upstream.fault({ operation: name, fault: { kind: "status", status: 500 } });
      assert.equal((await ask(name, valid({ method }))).status, 500);
    };
    return each(context, fail, ({ published }) => "500" in published.responses);
  });

  test("was seen to give every published status, and no others than are meant", {
    skip: SKIP,
  }, () => {
    for (const { name, published } of operations) {
      assert.deepEqual([...seen.get(name)].sort(), Object.keys(published.responses).sort(), name);
    }
    assertExpected([...lines], SIMULATED);
  });
});

/**
 * Values at the bounds of a published parameter, and beyond them. That a text is a date stands in
 * words alone, so there the declaration says it.
 */
function boundsOf({ required, schema, in: place }, declared, resolve) {
  const { type, format, enum: known, minimum, maximum, minLength } = resolve(schema);
  const good = [];
  const bad = [];
  if (known !== undefined) {
    good.push(...known);
    bad.push("no-such-value");
  }
  if (type === "integer" || type === "number") bad.push("x", "");
  if (minimum !== undefined) {
    good.push(minimum);
    bad.push(minimum - 1);
  }
  if (maximum !== undefined) {
    good.push(maximum);
    bad.push(maximum + 1);
  }
  if (minLength !== undefined) {
    good.push("x".repeat(minLength));
    bad.push("x".repeat(minLength - 1));
  }
  if (format === "ulid") bad.push("x", "81ARZ3NDEKTSV4RRFFQ69G5FAV", "01ARZ3NDEKTSV4RRFFQ69G5FAU");
  if (declared?.kind === "date") {
    good.push("2024-02-29", "2024-02-29T00:00:00Z");
    bad.push("2023-02-29", "x");
  }
  if (place === "body") bad.push(1, ...(required ? [undefined] : []));
  return { good, bad };
}
