import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { setImmediate as settle } from "node:timers/promises";
import { standInForStorage, standInForWindow } from "./browser_stand_ins.mjs";
import { column } from "./columns.mjs";
import { importSource } from "./source.mjs";
import { createGate } from "./waiting.mjs";

const stored = standInForStorage();
standInForWindow();
const { DeploymentBook } = await importSource("deployments/deployment_book.ts");
const { PersonData } = await importSource("session/person_data.ts");
beforeEach(() => stored.clear());

const CLAIMS = {
  subject: "zoë",
  projects: ["docs"],
  scopes: ["deployments:read", "deployments:create"],
};
const { signal } = new AbortController();
const HOW = { idempotencyKey: "key", force: false, isRetry: false, signal };
const NOW = new Date().toISOString();

const listed = (statusId, changes = {}) => ({
  statusId,
  status: "in_progress",
  isLive: null,
  summary: null,
  branch: null,
  previewUrl: null,
  createdBy: "zoë",
  createdAt: NOW,
  checkedAt: NOW,
  ...changes,
});
const deployment = (id, changes = {}) => ({
  _id: id,
  projectId: "docs",
  status: "in_progress",
  summary: null,
  logs: [],
  createdAt: NOW,
  endedAt: null,
  ...changes,
});

/** Returns a client of a gateway that lists these deployments. */
function fakeClient(items = []) {
  const client = { items, gets: [], waits: [], started: new Headers() };
  client.deployments = {
    list: async () => ({ deployments: client.items, nextCursor: null, revision: null }),
    get: async (id) => deployment(id),
    wait: (id, { onUpdate, signal }) =>
      new Promise((_, reject) => {
        client.waits.push({ id, update: onUpdate, fail: reject });
        signal.addEventListener("abort", () => reject(signal.reason));
      }),
    create: () => ({
      withResponse: async () => ({
        data: { statusId: "new" },
        response: { headers: client.started },
      }),
    }),
  };
  client.withOptions = () => client;
  client.openStream = async function* ({ signal, onData }) {
    onData();
    while (!signal.aborted) {
      yield await new Promise((resolve, reject) => {
        client.emit = resolve;
        signal.addEventListener("abort", () => reject(signal.reason));
      });
    }
  };
  return client;
}

/** Opens a session that has listed its deployments, and ends with the test. */
async function open(t, client) {
  const end = new AbortController();
  t.after(() => end.abort());
  const { openStream } = client;
  const book = new DeploymentBook({
    client,
    projectId: "docs",
    claims: CLAIMS,
    data: new PersonData("zoë"),
    openStream,
    ended: end.signal,
  });
  book.start();
  await book.list.refresh();
  await settle();
  return book;
}

test("a started deployment is listed immediately", async (t) => {
  const book = await open(t, fakeClient());
  const { statusId, isReplay } = await book.deploy(HOW);
  assert.deepEqual([statusId, isReplay], ["new", false]);
  assert.deepEqual(column(book.list.listing.value.items, "statusId"), ["new"]);
});

for (const [name, isRetry, ids] of [
  ["an earlier attempt started is not", true, []],
  ["a retry of the client started is", false, ["new"]],
]) {
  test(`a deployment that ${name} listed as a new one`, async (t) => {
    const client = fakeClient();
    client.started.set("idempotent-replayed", "true");
    const book = await open(t, client);
    const { statusId, isReplay } = await book.deploy({ ...HOW, isRetry });
    assert.deepEqual([statusId, isReplay], ["new", isRetry]);
    assert.deepEqual(column(book.list.listing.value.items, "statusId"), ids);
  });
}

const unavailable = () => Object.assign(new Error("unavailable"), { status: 503 });

test("a deployment whose stream failed gets another stream after a while", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const client = fakeClient([listed("a")]);
  const book = await open(t, client);
  const opened = book.open("a");
  await settle();
  assert.equal(client.waits.length, 1);
  client.waits[0].fail(unavailable());
  await settle();
  assert.notEqual(opened.problem.value, null);
  client.emit({ deployment: listed("a") });
  await settle();
  assert.notEqual(opened.problem.value, null, "the list has no log");
  t.mock.timers.tick(60_000);
  await settle();
  assert.equal(client.waits.length, 2);
  client.waits[1].update(deployment("a", { logs: ["one"] }));
  assert.deepEqual([opened.problem.value, opened.deployment.value.logs], [null, ["one"]]);
});

for (const [name, fields, times] of [
  ["a time limit: only on request", { name: "DeploymentWaitTimeoutError" }, []],
  ["a 404: only on request", { status: 404 }, []],
  ["a 429: after Retry-After", { status: 429, retryAfter: 90 }, [90]],
  ["a lost connection: after 30 seconds", { name: "ConnectionError" }, [30, 60, 90]],
]) {
  test(`a deployment is watched again after ${name}`, async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const client = fakeClient([listed("a")]);
    const book = await open(t, client);
    const opened = book.open("a");
    await settle();
    const shown = new Set();
    const retries = [];
    for (let seconds = 0; seconds <= 90; seconds += 10) {
      if (client.waits.length > retries.length + 1) retries.push(seconds);
      client.waits.at(-1).fail(Object.assign(new Error("no"), fields));
      await settle();
      shown.add(opened.problem.value);
      t.mock.timers.tick(10_000);
    }
    assert.deepEqual(retries, times);
    assert.equal(shown.size, 1, "the same problem stays");
    await book.checkAgain(opened);
    assert.equal(client.waits.length, retries.length + 2);
  });
}

test("a deployment whose stream failed gets another stream when it is opened again", async (t) => {
  const client = fakeClient([listed("a")]);
  const book = await open(t, client);
  for (const count of [1, 2]) {
    book.open("a");
    await settle();
    assert.equal(client.waits.length, count);
    client.waits.at(-1).fail(unavailable());
    await settle();
    book.close();
  }
});

const ENDED = { status: "success", isLive: true, summary: "Live" };

/** Opens a deployment. Its stream delivers a state before the older response to a request arrives. */
async function overtake(t, items, older, newer) {
  const client = fakeClient(items);
  const book = await open(t, client);
  client.deployments.get = async () => deployment("a", older);
  const opened = book.open("a");
  await opened.load();
  await settle();
  const gate = createGate();
  client.deployments.get = async () => {
    await gate.opened;
    return deployment("a", older);
  };
  const loading = opened.load();
  client.waits.at(-1).update(deployment("a", newer));
  gate.open();
  await loading;
  return { client, opened };
}

for (const [name, items] of [
  ["listed", [listed("a")]],
  ["not listed", []],
]) {
  test(`an older response does not replace the log of a ${name} deployment`, async (t) => {
    const { opened } = await overtake(t, items, { logs: ["cut"] }, { logs: ["one", "two"] });
    assert.deepEqual(opened.deployment.value.logs, ["one", "two"]);
  });

  test(`an older response does not undo the end of a ${name} deployment`, async (t) => {
    const { opened } = await overtake(t, items, { logs: ["one"] }, { ...ENDED, logs: ["done"] });
    assert.deepEqual(opened.deployment.value.logs, ["done"]);
    assert.equal(opened.facts.value.status, "success");
  });
}

test("a stored state of the stream does not cut the log of a newer response", async (t) => {
  const client = fakeClient([]);
  const book = await open(t, client);
  client.deployments.get = async () => deployment("a", { logs: ["one", "two"] });
  const opened = book.open("a");
  await opened.load();
  await settle();
  client.waits.at(-1).update(deployment("a", { logs: ["one"] }));
  assert.deepEqual(opened.deployment.value.logs, ["one", "two"]);
});

test("an older list does not undo the end of a deployment", async (t) => {
  const client = fakeClient([listed("a")]);
  const book = await open(t, client);
  client.deployments.get = async () => deployment("a", { ...ENDED, logs: ["done"] });
  const opened = book.open("a");
  await opened.load();
  client.deployments.get = () => new Promise(() => {});
  client.emit({ deployment: listed("a") });
  await settle();
  assert.deepEqual([opened.facts.value.status, opened.facts.value.isLive], ["success", true]);
});

test("a failed request does not hide a log that arrived meanwhile", async (t) => {
  const client = fakeClient([listed("a")]);
  const book = await open(t, client);
  client.deployments.get = () => Promise.reject(unavailable());
  const opened = book.open("a");
  client.waits[0].update(deployment("a", { logs: ["one"] }));
  await settle();
  assert.deepEqual([opened.problem.value, opened.deployment.value.logs], [null, ["one"]]);
});

test("a deployment of another project is not found unless it is listed", async (t) => {
  const client = fakeClient();
  const book = await open(t, client);
  client.deployments.get = async () => deployment("a", { projectId: "other" });
  const opened = book.open("a");
  await opened.load();
  assert.deepEqual([opened.facts.value, opened.isMissing.value], [null, true]);
  assert.equal(opened.problem.value, null);
  opened.receiveListed(listed("a"));
  await opened.load();
  assert.deepEqual([opened.isMissing.value, opened.deployment.value.projectId], [false, "other"]);
  client.deployments.get = async () => deployment("a", { projectId: null });
  await opened.load();
  assert.equal(opened.facts.value.status, "in_progress");
});
