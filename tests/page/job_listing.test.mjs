import assert from "node:assert/strict";
import { test } from "node:test";
import { importSource } from "./source.mjs";

const { ProjectJobs, renewed } = await importSource("project_jobs.ts");

const jobs = (...ids) => ids.map((id) => ({ id }));
const idsOf = ({ jobs }) => jobs.map(({ id }) => id).join("");

/** A client of a gateway with these jobs, newest first; its cursor is the last job's id. */
function fakeClient(ledger) {
  const asked = [];
  const client = { ledger, asked, fail: null };
  const list = async ({ limit, cursor }) => {
    asked.push(cursor ? `${limit} after ${cursor}` : `${limit}`);
    if (client.fail) throw Object.assign(new Error("no"), { name: client.fail });
    const start = cursor ? client.ledger.indexOf(cursor) + 1 : 0;
    const ids = client.ledger.slice(start, start + limit);
    const isLast = start + limit >= client.ledger.length;
    return { jobs: jobs(...ids), nextCursor: isLast ? null : ids.at(-1) };
  };
  return Object.assign(client, { agentJobs: { list } });
}

const LETTERS = "zyxwvutsrqponmlkjihgfedcba".split("");
const open = (client) => new ProjectJobs(client, new AbortController().signal);

test("a renewal keeps the pages that were gone through", () => {
  const shown = { jobs: jobs("d", "c", "b", "a"), more: "a" };
  const renewal = renewed(shown, { jobs: jobs("e", "d"), nextCursor: "d" });
  assert.deepEqual([idsOf(renewal), renewal.more], ["edcba", "a"]);
});

test("a renewal without a job in common starts again, so that none is left out", () => {
  const shown = { jobs: jobs("b", "a"), more: "a" };
  const renewal = renewed(shown, { jobs: jobs("z", "y"), nextCursor: "y" });
  assert.deepEqual([idsOf(renewal), renewal.more], ["zy", "y"]);
});

test("a renewal with the last page is the whole list", () => {
  const shown = { jobs: jobs("c", "b"), more: "b" };
  const renewal = renewed(shown, { jobs: jobs("c", "a"), nextCursor: null });
  assert.deepEqual([idsOf(renewal), renewal.more], ["ca", null]);
});

test("pages follow each other to the end, and a renewal covers what is shown", async () => {
  const client = fakeClient(LETTERS);
  const list = open(client);
  await list.refresh();
  await list.showMore();
  await list.refresh();
  await list.showMore();
  assert.equal(idsOf(list.listing.value), LETTERS.join(""));
  assert.equal(list.listing.value.more, null);
  await list.showMore();
  assert.deepEqual(client.asked, ["10", "10 after q", "20", "10 after g"]);
});

test("renewals that have not begun are one, and requests come one after the other", async () => {
  const client = fakeClient(LETTERS);
  const list = open(client);
  await Promise.all([list.refresh(), list.refresh(), list.showMore(), list.refresh()]);
  assert.deepEqual(client.asked, ["10", "10 after q"]);
  await list.refresh();
  assert.equal(client.asked.length, 3);
});

test("a failure is told when somebody waits for it or there is nothing to see", async () => {
  const client = fakeClient(LETTERS);
  const list = open(client);
  client.fail = "ConnectionError";
  assert.equal(await list.refresh(), false);
  assert.match(list.problem.value.title, /could not be reached/);
  client.fail = null;
  assert.equal(await list.refresh(), true);
  assert.equal(list.problem.value, null);
  client.fail = "ConnectionError";
  assert.equal(await list.refresh(), false);
  assert.equal(list.problem.value, null);
  assert.equal(await list.refresh("by the person"), false);
  assert.notEqual(list.problem.value, null);
  assert.equal(list.listing.value.jobs.length, 10);
});

test("a session that ends asks for nothing more", async () => {
  const end = new AbortController();
  const client = fakeClient(LETTERS);
  const list = new ProjectJobs(client, end.signal);
  end.abort();
  assert.equal(await list.refresh(), false);
  assert.deepEqual([client.asked, list.problem.value], [[], null]);
});
