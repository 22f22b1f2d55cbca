import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { setImmediate as settle } from "node:timers/promises";
import { standInForStorage, standInForWindow } from "./browser_stand_ins.mjs";
import { column, columns } from "./columns.mjs";
import { importSource } from "./source.mjs";
import { createGate, until } from "./waiting.mjs";

const stored = standInForStorage();
const page = standInForWindow();
const { JobBook } = await importSource("jobs/job_book.ts");
const { PersonData } = await importSource("session/person_data.ts");
beforeEach(() => {
  stored.clear();
  page.setHidden(false);
});

const CLAIMS = { subject: "zoë", projects: ["docs"], scopes: ["jobs:read", "jobs:create"] };
const NOW = new Date().toISOString();
const agentJob = (id, status = "active", prLink = null) => ({
  id,
  status,
  prLink,
  source: { repository: "acme/docs", ref: "main" },
  model: "model",
  createdAt: NOW,
  archivedAt: null,
});
const listed = (id, changes = {}) => ({
  id,
  status: "active",
  prLink: null,
  prompt: `Prompt ${id}`,
  createdBy: "zoë",
  createdAt: NOW,
  checkedAt: NOW,
  ...changes,
});
const THREE_JOBS = ["a", "b", "c"].map((id) => listed(id));
const PULL_REQUEST = "https://github.com/acme/docs/pull/1";

/** Returns a client of a gateway with these jobs. An `older` one has no job stream or records. */
function fakeClient({ jobs = [], older = false } = {}) {
  const client = {
    jobs: new Map(jobs.map((job) => [job.id, job])),
    waits: new Map(),
    calls: [],
    waited: [],
  };
  const { calls } = client;
  const agentJobs = {
    list: async () => {
      calls.push("list");
      await client.failList?.();
      return { jobs: [...client.jobs.values()], nextCursor: null };
    },
    get: async (id) => {
      calls.push(`get ${id}`);
      const job = client.jobs.get(id);
      if (!job)
        throw Object.assign(new Error("no such job"), { name: "NotFoundError", status: 404 });
      return agentJob(id, job.status, job.prLink);
    },
    wait: (id, { onUpdate, signal }) =>
      new Promise((_, reject) => {
        client.waited.push(id);
        client.waits.set(id, onUpdate);
        client.failWait = reject;
        signal.addEventListener("abort", () => {
          client.waits.delete(id);
          reject(signal.reason);
        });
      }),
    create: ({ prompt }) => ({
      withResponse: async () => {
        const id = `new-${client.jobs.size}`;
        client.jobs.set(id, listed(id, { prompt }));
        return { data: agentJob(id), response: { headers: new Headers() } };
      },
    }),
    sendMessage: async (id) => agentJob(id),
  };
  client.openStream = async function* ({ signal, after, onData }) {
    client.after = after;
    if (older) throw Object.assign(new Error("no such route"), { status: 404 });
    onData();
    while (!signal.aborted) {
      yield await new Promise((resolve, reject) => {
        client.emit = (event) => {
          if (event.job) client.jobs.set(event.job.id, event.job);
          resolve(event);
        };
        signal.addEventListener("abort", () => reject(signal.reason));
      });
    }
  };
  if (!older) {
    agentJobs.record = async (id) => {
      calls.push(`record ${id}`);
      const job = client.jobs.get(id);
      return { job, prompt: job.prompt, messages: client.messages ?? [], changes: [] };
    };
  }
  return Object.assign(client, { agentJobs });
}

/** Creates the book of a session that ends with the test. */
function openBook(t, client, claims = CLAIMS) {
  const end = new AbortController();
  t.after(() => end.abort());
  const { openStream } = client;
  const data = new PersonData(claims.subject);
  return new JobBook({ client, projectId: "docs", claims, data, openStream, ended: end.signal });
}

/** Opens a session that has listed its jobs. */
async function open(t, client) {
  const book = openBook(t, client);
  book.start();
  await book.list.refresh();
  return { client, book };
}

const HOW = { idempotencyKey: "key", force: false, signal: new AbortController().signal };

test("the stream starts after the revision of the loaded list", async (t) => {
  const client = fakeClient({ jobs: [listed("a")] });
  const { list } = client.agentJobs;
  client.agentJobs.list = async (...args) => ({ ...(await list(...args)), revision: 7 });
  await open(t, client);
  await settle();
  assert.equal(client.after, 7);
});

test("a created job is listed immediately, with its whole prompt", async (t) => {
  const { book } = await open(t, fakeClient({ jobs: [listed("a")] }));
  const id = await book.create("Fix the typos\nin all pages", HOW);
  const [first] = book.list.listing.value.items;
  assert.deepEqual([first.prompt, first.createdBy], ["Fix the typos", "zoë"]);
  assert.equal(id, first.id);
  assert.equal(book.sent.of(first.id).prompt, "Fix the typos\nin all pages");
  assert.equal(book.titleMark.value, "(2) ");
});

test("the age of a created job does not depend on Mintlify’s clock", async (t) => {
  const client = fakeClient();
  const { create } = client.agentJobs;
  client.agentJobs.create = (params) => ({
    withResponse: async () => {
      const { data, response } = await create(params).withResponse();
      return { data: { ...data, createdAt: "2020-01-01T00:00:00Z" }, response };
    },
  });
  const { book } = await open(t, client);
  await book.create("Fix", HOW);
  const [{ createdAt }] = book.list.listing.value.items;
  assert.ok(Math.abs(Date.parse(createdAt) - Date.now()) < 5_000, createdAt);
});

test("the project’s stream is enough where the gateway has one", async (t) => {
  const { client, book } = await open(t, fakeClient({ jobs: THREE_JOBS }));
  const opened = book.open("a");
  await opened.load();
  await settle();
  client.emit({ job: listed("a", { status: "completed", prLink: PULL_REQUEST }) });
  await settle();
  assert.equal(opened.facts.value.status, "completed");
  assert.deepEqual(client.waited, []);
});

test("an opened job gets its own stream if the project’s does not include it", async (t) => {
  const client = fakeClient({ jobs: [listed("a")] });
  client.agentJobs.record = async () => {
    throw Object.assign(new Error("not here"), { status: 404 });
  };
  const { book } = await open(t, client);
  await book.open("a").load();
  await settle();
  assert.deepEqual([...client.waits.keys()], ["a"]);
  book.close();
  await settle();
  assert.equal(client.waits.size, 0);
});

test("an older gateway serves one job stream at a time", async (t) => {
  const { client, book } = await open(t, fakeClient({ jobs: THREE_JOBS, older: true }));
  await settle();
  assert.equal(client.waits.size, 1);
  const opened = book.open("b");
  await opened.load();
  await settle();
  assert.deepEqual([...client.waits.keys()], ["b"]);
  client.waits.get("b")(agentJob("b", "completed", PULL_REQUEST));
  await settle();
  assert.equal(opened.facts.value.prLink, PULL_REQUEST);
  assert.equal(book.list.find("b").status, "completed");
  assert.deepEqual([...client.waits.keys()], ["c"], "the remaining active job");
});

test("a job whose stream failed gets another stream after a while", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const jobs = [listed("a", { createdBy: "ada" })];
  const { client, book } = await open(t, fakeClient({ jobs, older: true }));
  const opened = book.open("a");
  await opened.load();
  await settle();
  assert.deepEqual(client.waited, ["a"]);
  client.failWait(Object.assign(new Error("unavailable"), { status: 503 }));
  await settle();
  assert.notEqual(opened.problem.value, null);
  t.mock.timers.tick(60_000);
  await settle();
  assert.deepEqual(client.waited, ["a", "a"]);
  client.failWait(Object.assign(new Error("gone"), { status: 404 }));
  await settle();
  const checked = book.checkAgain(opened);
  assert.equal(client.waited.length, 2, "its stored state can be older than the response");
  await checked;
  assert.equal(client.waited.length, 3);
  client.waits.get("a")(agentJob("a", "completed", PULL_REQUEST));
  await settle();
  assert.deepEqual([opened.problem.value, opened.facts.value.status], [null, "completed"]);
});

test("an unknown job gets no stream", async (t) => {
  const { client, book } = await open(t, fakeClient({ older: true }));
  const opened = book.open("nonsense");
  await opened.load();
  await settle();
  assert.equal(client.waits.size, 0);
  assert.deepEqual([opened.facts.value, opened.isMissing.value], [null, true]);
});

test("a stale response does not undo a newer event", async (t) => {
  const { client, book } = await open(t, fakeClient({ jobs: [listed("a")] }));
  const opened = book.open("a");
  await opened.load();
  let respond;
  client.agentJobs.get = () =>
    new Promise((resolve) => {
      respond = resolve;
    });
  const loading = opened.load();
  client.emit({ job: listed("a", { status: "failed" }) });
  await settle();
  const respondFirst = respond;
  respondFirst(agentJob("a", "active"));
  await settle();
  assert.equal(opened.facts.value.status, "failed");
  // The book requests the job again.
  assert.notEqual(respond, respondFirst);
  respond(agentJob("a", "failed"));
  await loading;
});

test("an older response does not undo a newer state of a job’s own stream", async (t) => {
  const client = fakeClient({ jobs: [listed("a")], older: true });
  client.agentJobs.list = async () => ({ jobs: [], nextCursor: null });
  const { book } = await open(t, client);
  const opened = book.open("a");
  await opened.load();
  await settle();
  const gate = createGate();
  client.agentJobs.get = () => gate.opened.then(() => agentJob("a"));
  const loading = opened.load();
  client.waits.get("a")(agentJob("a", "completed", PULL_REQUEST));
  gate.open();
  await loading;
  assert.equal(opened.facts.value.status, "completed");
});

test("an older response does not restore a deleted record", async (t) => {
  const { client, book } = await open(t, fakeClient({ jobs: [listed("a")] }));
  const opened = book.open("a");
  await opened.load();
  const gate = createGate();
  const { record } = client.agentJobs;
  client.agentJobs.record = async (id) => {
    const known = await record(id);
    await gate.opened;
    return known;
  };
  const loading = opened.load();
  client.emit({ deleted: "a" });
  await settle();
  gate.open();
  await loading;
  assert.equal(opened.record.value, null);
});

test("the response about a job that was closed does not replace a newer list", async (t) => {
  const { client, book } = await open(t, fakeClient({ jobs: [listed("a")] }));
  const gate = createGate();
  client.agentJobs.get = () => gate.opened.then(() => agentJob("a"));
  const opened = book.open("a");
  book.close();
  await finish(client, "a");
  gate.open();
  await opened.load();
  await settle();
  assert.equal(book.list.find("a").status, "completed");
});

test("a follow-up from another person appears in the thread", async (t) => {
  const { client, book } = await open(t, fakeClient({ jobs: [listed("a")] }));
  const opened = book.open("a");
  await opened.load();
  client.messages = [{ prompt: "From elsewhere", author: "ada", sentAt: NOW }];
  client.emit({ job: listed("a") });
  await settle();
  await opened.load();
  assert.deepEqual(columns(opened.thread.value, "text", "author"), [
    ["Prompt a", "zoë"],
    ["From elsewhere", "ada"],
  ]);
});

test("a follow-up sent from another tab leaves this tab’s box", async (t) => {
  const { book } = await open(t, fakeClient({ jobs: [listed("a")] }));
  book.followUp("a").edit("Only once");
  const [name] = [...stored.keys()].filter((key) => key.includes("follow-up"));
  page.changeElsewhere(stored, name, null);
  assert.equal(book.followUp("a").text.value, "");
});

test("a follow-up shows in full in the browser that sent it", async (t) => {
  const { book } = await open(t, fakeClient({ jobs: [listed("a")], older: true }));
  const opened = book.open("a");
  await opened.load();
  await book.sendMessage("a", "Also\nthe images", HOW);
  assert.equal(opened.thread.value[1].text, "Also\nthe images");
  assert.equal(opened.thread.value[1].extent, "whole");
});

const finish = async (client, id, changes = {}) => {
  client.emit({ job: listed(id, { status: "completed", prLink: PULL_REQUEST, ...changes }) });
  await settle();
};

test("the end of the person’s own job marks the title until the page is shown", async (t) => {
  const jobs = [listed("a"), listed("b"), listed("c", { createdBy: "ada" })];
  const { client, book } = await open(t, fakeClient({ jobs }));
  assert.equal(book.titleMark.value, "(2) ");
  page.setHidden(true);
  await finish(client, "c", { createdBy: "ada" });
  assert.equal(book.titleMark.value, "(2) ");
  await finish(client, "a");
  assert.equal(book.titleMark.value, "✓ ");
  await finish(client, "b", { status: "failed", prLink: null });
  assert.equal(book.titleMark.value, "✗ ");
  page.setHidden(false);
  assert.equal(book.titleMark.value, "");
});

test("a job that ended before the page opened does not mark the title", async (t) => {
  page.setHidden(true);
  const jobs = [listed("a", { status: "completed" })];
  const { client, book } = await open(t, fakeClient({ jobs }));
  await finish(client, "a");
  assert.equal(book.titleMark.value, "");
});

test("a deleted record leaves the list and the browser’s storage", async (t) => {
  const { client, book } = await open(t, fakeClient({ jobs: [listed("a"), listed("b")] }));
  book.sent.notePrompt("a", "Fix");
  client.emit({ deleted: "a" });
  await settle();
  assert.deepEqual(column(book.list.listing.value.items, "id"), ["b"]);
  assert.equal(book.sent.of("a").prompt, null);
});

test("a session without the scope jobs:read requests no job", async (t) => {
  const client = fakeClient({ jobs: [listed("a")] });
  const book = openBook(t, client, { ...CLAIMS, scopes: ["jobs:create"] });
  book.start();
  await book.create("Fix", HOW);
  await settle();
  assert.deepEqual(client.calls, []);
});

async function countLists(t, client, { hidden = false, inSight = true, failList } = {}) {
  t.mock.timers.enable({ apis: ["setInterval", "Date"], now: Date.now() });
  const { book } = await open(t, client);
  await settle();
  client.failList = failList;
  // Without its answer, the list lacks changes.
  if (failList) client.emit?.({ reset: true });
  book.inSight.value = inSight;
  page.setHidden(hidden);
  client.calls.length = 0;
  for (let n = 0; n < 30; n++) {
    t.mock.timers.tick(2_000);
    await settle();
  }
  return client.calls.filter((call) => call === "list").length;
}
const jobsOfOthers = () => [listed("a", { createdBy: "ada" })];

test("without a stream, a visible list is requested every ten seconds", async (t) => {
  assert.equal(await countLists(t, fakeClient({ jobs: jobsOfOthers(), older: true })), 6);
});

const BUSY = { status: 503, retryAfter: 30 };
for (const [name, fields, slowness, wanted, older = true] of [
  ["a list that fails is requested every ten seconds", { status: 401 }, 0, 6],
  ["a list with Retry-After is requested after that time", BUSY, 0, 2],
  ["with a stream, a list that failed is requested after Retry-After", BUSY, 0, 2, false],
  ["a short Retry-After does not shorten the pause", { status: 503, retryAfter: 1 }, 0, 6],
  ["a list that fails slowly is requested ten seconds later", { status: 503 }, 20_000, 2],
]) {
  test(name, async (t) => {
    const failList = async () => {
      const end = Date.now() + slowness;
      await until(() => Date.now() >= end || t.signal.aborted);
      throw Object.assign(new Error("no"), fields);
    };
    const client = fakeClient({ jobs: jobsOfOthers(), older });
    assert.equal(await countLists(t, client, { failList }), wanted);
  });
}

test("a clock that was set back does not stop the requests", async (t) => {
  const client = fakeClient({ jobs: jobsOfOthers(), older: true });
  await countLists(t, client);
  client.calls.length = 0;
  client.failList = () => Promise.reject(new Error("no"));
  const before = Date.now() - 172_800_000;
  t.mock.method(Date, "now", () => before);
  for (let n = 0; n < 3; n++) {
    t.mock.timers.tick(2_000);
    await settle();
  }
  assert.deepEqual(client.calls, ["list"]);
});

test("with a stream, the list is never requested again", async (t) => {
  assert.equal(await countLists(t, fakeClient({ jobs: jobsOfOthers() })), 0);
});

test("a hidden list is not requested while only others’ jobs are active", async (t) => {
  const client = fakeClient({ jobs: jobsOfOthers(), older: true });
  assert.equal(await countLists(t, client, { hidden: true }), 0);
});

test("a list out of sight is requested while the person’s own job is active", async (t) => {
  const client = fakeClient({ jobs: [listed("a")], older: true });
  assert.equal(await countLists(t, client, { hidden: true, inSight: false }), 6);
});
