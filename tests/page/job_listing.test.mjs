import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as settle } from "node:timers/promises";
import { column } from "./columns.mjs";
import { importSource } from "./source.mjs";
import { createGate } from "./waiting.mjs";

const { appliedFilter, JOB_KIND, ProjectJobs } = await importSource("jobs/project_jobs.ts");
const { applyEvent, extendListing, renewListing } = await importSource("live/listing.ts");
const { formatJobsAddress, parseJobsAddress } = await importSource("jobs/jobs_address.ts");
const { ALL_JOBS, authorChoices, filterParams } = await importSource("jobs/job_filter.ts");

const LETTERS = "zyxwvutsrqponmlkjihgfedcba".split("");
const jobOf = (id, changes = {}) => ({
  id,
  status: "active",
  prLink: null,
  prompt: `Prompt ${id}`,
  createdBy: id < "n" ? "ada" : "zoë",
  createdAt: `2026-11-20T09:00:${String(id.charCodeAt(0) - 97).padStart(2, "0")}Z`,
  ...changes,
});
const jobs = (...ids) => ids.map((id) => jobOf(id));
const idsOf = (listing) => listing.items.map(({ id }) => id).join("");

/** Returns the API of a gateway with these jobs, newest first. Its cursor is the last job’s id. */
function fakeApi(ledger) {
  const requests = [];
  const api = { ledger, requests, fail: null, holds: [] };
  api.list = async ({ limit, cursor, state, author, text }) => {
    const filter = [state, author, text].filter(Boolean);
    requests.push([limit, cursor && `after ${cursor}`, ...filter].filter(Boolean).join(" "));
    await api.holds.shift();
    if (api.fail) throw Object.assign(new Error("no"), { name: api.fail });
    const found = api.ledger
      .map((job) => (typeof job === "string" ? jobOf(job) : job))
      .filter((job) => !state || job.status === state)
      .filter((job) => !author || job.createdBy === author)
      .filter((job) => !text || job.prompt.toLowerCase().includes(text.toLowerCase()));
    const start = cursor ? found.findIndex(({ id }) => id === cursor) + 1 : 0;
    const page = found.slice(start, start + limit);
    return { jobs: page, nextCursor: start + limit >= found.length ? null : page.at(-1).id };
  };
  return api;
}

const NOT_ENDED = new AbortController().signal;
function open(ledger) {
  const api = fakeApi(ledger);
  return { api, list: new ProjectJobs(api, NOT_ENDED) };
}

for (const [name, [items, more], [read, nextCursor], expected] of [
  ["a renewal keeps the pages that were loaded", ["dcba", "a"], ["ed", "d"], ["edcba", "a"]],
  ["a renewal without a common job replaces the list", ["ba", "a"], ["zy", "y"], ["zy", "y"]],
  ["a renewal with equal matches keeps its position", ["ba", "far"], ["ba", "near"], ["ba", "far"]],
  ["a renewal without a further page is the whole list", ["cb", "b"], ["ca", null], ["ca", null]],
]) {
  test(name, () => {
    const shown = { items: jobs(...items), more };
    const renewal = renewListing(JOB_KIND, shown, { items: jobs(...read), nextCursor });
    assert.deepEqual([idsOf(renewal), renewal.more], expected);
  });
}

test("a renewal with a search page that stopped before a match keeps the list", () => {
  const shown = { items: jobs("b", "a"), more: null };
  assert.equal(renewListing(JOB_KIND, shown, { items: [], nextCursor: "k" }), shown);
});

test("a further page adds no job twice", () => {
  const shown = { items: jobs("d", "c"), more: "c" };
  const further = extendListing(JOB_KIND, shown, { items: jobs("c", "b"), nextCursor: null });
  assert.deepEqual([idsOf(further), further.more], ["dcb", null]);
});

const shown = { items: jobs("e", "c", "b"), more: "b" };
const after = (event, filter = {}, listing = shown) =>
  applyEvent(JOB_KIND, listing, event, appliedFilter({ ...ALL_JOBS, ...filter }));

test("an event of a listed job changes it in place", () => {
  const { listing } = after({ item: jobOf("c", { status: "failed" }) });
  assert.equal(idsOf(listing), "ecb");
  assert.equal(listing.items[1].status, "failed");
});

test("an event of a new job inserts it by its time", () => {
  assert.equal(idsOf(after({ item: jobOf("f") }).listing), "fecb");
  assert.equal(idsOf(after({ item: jobOf("d") }).listing), "edcb");
  assert.equal(idsOf(after({ item: jobOf("a") }).listing), "ecb", "it belongs to a later page");
  const whole = { ...shown, more: null };
  assert.equal(idsOf(after({ item: jobOf("a") }, {}, whole).listing), "ecba");
});

test("a deletion removes the job", () => {
  assert.equal(idsOf(after({ deleted: "c" }).listing), "eb");
  assert.equal(after({ deleted: "q" }).listing, shown);
});

test("a job that no longer matches the filter is removed", () => {
  const failed = { item: jobOf("c", { status: "failed" }) };
  assert.equal(idsOf(after(failed, { states: ["active"] }).listing), "eb");
  assert.equal(idsOf(after({ item: jobOf("z") }, { authors: ["ada"] }).listing), "ecb");
});

test("an event of an older job that now matches the filter needs a request", () => {
  const filter = { states: ["active"] };
  assert.equal(after({ item: jobOf("a") }, filter).isOpen, true, "the cursor can be beyond it");
  assert.equal(after({ item: jobOf("d") }, filter).isOpen, false);
  assert.equal(after({ item: jobOf("a") }).isOpen, false);
});

test("an event cannot decide a filter by text, which the gateway must", () => {
  const { listing, isOpen } = after({ item: jobOf("f") }, { text: "links" });
  assert.deepEqual([idsOf(listing), isOpen], ["ecb", true]);
  assert.equal(after({ item: jobOf("c") }, { text: "links" }).isOpen, false);
});

test("a reload replaces all shown jobs", async () => {
  const { api, list } = open(LETTERS);
  await list.refresh();
  await list.showMore();
  assert.equal(list.listing.value.items.length, 26);
  api.ledger = ["new", ...LETTERS.slice(1, 24), "x2"];
  api.ledger.push(...Array.from({ length: 9 }, (_, at) => `old-${at}`));
  await list.reload();
  const shown = list.listing.value.items.map(({ id }) => id);
  assert.deepEqual(shown, api.ledger.slice(0, 26));
});

test("the list loads page by page, and a refresh covers all loaded pages", async () => {
  const ledger = [...LETTERS, ..."0123456789"].map((id, n) =>
    jobOf(id, { createdAt: `${99 - n}` }),
  );
  const { api, list } = open(ledger);
  await list.refresh();
  assert.equal(list.listing.value.items.length, 25);
  await list.showMore();
  await list.refresh();
  assert.deepEqual(column(list.listing.value.items, "id"), column(ledger, "id"));
  assert.equal(list.listing.value.more, null);
  await list.showMore();
  assert.deepEqual(api.requests, ["25", "25 after b", "36"]);
});

test("waiting refreshes share one request, and requests run in sequence", async () => {
  const { api, list } = open(LETTERS);
  await Promise.all([list.refresh(), list.refresh(), list.showMore(), list.refresh()]);
  assert.deepEqual(api.requests, ["25", "25 after b"]);
  await list.refresh();
  assert.equal(api.requests.length, 3);
});

test("a page does not undo the events received while it was loading", async () => {
  const api = fakeApi(["c", "b", "a"]);
  const observed = [];
  const list = new ProjectJobs(api, NOT_ENDED, (jobs) =>
    observed.push(...jobs.map(({ id }) => id)),
  );
  await list.refresh();
  const gate = createGate();
  api.holds = [gate.opened];
  observed.length = 0;
  const renewal = list.refresh();
  await settle();
  list.receive({ item: jobOf("d") });
  list.receive({ item: jobOf("b", { status: "failed" }) });
  list.receive({ deleted: "a" });
  gate.open();
  await renewal;
  assert.equal(idsOf(list.listing.value), "dcb");
  assert.equal(list.find("b").status, "failed");
  assert.deepEqual(observed, ["d", "b", "c"], "no older state follows a newer one");
});

test("Show more does not undo a deletion received while it was loading", async () => {
  const { list } = open(LETTERS);
  await list.refresh();
  const more = list.showMore();
  list.receive({ deleted: "z" });
  await more;
  assert.equal(idsOf(list.listing.value), LETTERS.slice(1).join(""));
});

test("a failed refresh shows a problem if the person started it or the list is empty", async () => {
  const { api, list } = open(LETTERS);
  api.fail = "ConnectionError";
  assert.equal(await list.refresh(), false);
  assert.match(list.problem.value.title, /couldn’t reach/);
  api.fail = null;
  assert.equal(await list.refresh(), true);
  assert.equal(list.problem.value, null);
  api.fail = "ConnectionError";
  assert.equal(await list.refresh(), false);
  assert.equal(list.problem.value, null);
  assert.equal(await list.refresh("person"), false);
  assert.notEqual(list.problem.value, null);
  assert.equal(list.listing.value.items.length, 25);
});

test("the list sends no request after the session has ended", async () => {
  const end = new AbortController();
  const api = fakeApi(LETTERS);
  const list = new ProjectJobs(api, end.signal);
  end.abort();
  assert.equal(await list.refresh(), false);
  assert.deepEqual([api.requests, list.problem.value], [[], null]);
});

test("the gateway applies the filter", async () => {
  const { api, list } = open(LETTERS);
  await list.setFilter({ states: ["active"], authors: ["ada"], text: " PROMPT c " });
  assert.deepEqual(api.requests, ["25 active ada PROMPT c"]);
  assert.equal(idsOf(list.listing.value), "c");
  assert.deepEqual(filterParams({ ...ALL_JOBS, text: "x".repeat(300) }).text.length, 200);
});

test("the response to an outdated filter is ignored", async () => {
  const { api, list } = open(LETTERS);
  const gates = [createGate(), createGate()];
  api.holds = column(gates, "opened");
  const first = list.setFilter({ ...ALL_JOBS, authors: ["ada"] });
  await settle();
  assert.deepEqual(api.requests, ["25 ada"]);
  const second = list.setFilter({ ...ALL_JOBS, text: "prompt z" });
  gates[0].open();
  await first;
  assert.equal(list.listing.value, null);
  gates[1].open();
  await second;
  assert.equal(idsOf(list.listing.value), "z");
});

test("a refresh finds a job that matches only by its later lines", async () => {
  const { api, list } = open(["c", "b"]);
  await list.setFilter({ ...ALL_JOBS, text: "prompt" });
  api.ledger = ["d", "c", "b"];
  list.receive({ item: jobOf("d", { prompt: "The text is in its second line" }) });
  await list.refresh();
  assert.equal(idsOf(list.listing.value), "dcb");
});

const LINK = "https://github.com/acme/docs/pull/1";

test("the gateway lists completed jobs, and the page keeps those without a change", async () => {
  const done = { status: "completed" };
  const { api, list } = open(["d", jobOf("c", done), jobOf("b", { ...done, prLink: LINK })]);
  await list.setFilter({ ...ALL_JOBS, states: ["unchanged"] });
  assert.deepEqual(api.requests, ["100 completed"]);
  assert.equal(idsOf(list.listing.value), "c");
  await list.setFilter({ ...ALL_JOBS, states: ["ready", "unchanged"] });
  assert.equal(idsOf(list.listing.value), "cb");
  assert.equal(list.searched.value, null, "the gateway applies this filter");
});

test("several states and authors are filtered by the page", async () => {
  const failed = { status: "failed" };
  const { api, list } = open(["z", jobOf("y", failed), jobOf("c", failed)]);
  await list.setFilter({ ...ALL_JOBS, states: ["active", "failed"], authors: ["ada"] });
  assert.deepEqual(api.requests, ["100 ada"]);
  assert.equal(idsOf(list.listing.value), "c");
  await list.setFilter({ ...ALL_JOBS, states: ["failed"], authors: ["ada", "zoë"] });
  assert.deepEqual(api.requests.slice(1), ["100 failed"]);
  assert.equal(idsOf(list.listing.value), "yc");
});

test("the page searches older jobs until enough of them match, in a limited number of requests", async () => {
  const ledger = Array.from({ length: 900 }, (_, at) =>
    jobOf(`j${at}`, { createdAt: `${900 - at}`, createdBy: at > 850 ? "ada" : "zoë" }),
  );
  const { api, list } = open(ledger);
  await list.setFilter({ ...ALL_JOBS, authors: ["ada", "bot"] });
  assert.equal(api.requests.length, 6);
  assert.deepEqual([list.listing.value.items.length, list.searched.value], [0, 600]);
  await list.showMore();
  assert.deepEqual([list.listing.value.items.length, list.listing.value.more], [49, null]);
});

test("the list continues after pages without a match, in a limited number of requests", async () => {
  const cursors = [];
  const api = {
    // The gateway scans a limited number of jobs per request. The ninth request finds a job.
    list: async ({ cursor = "0" }) => {
      cursors.push(cursor);
      const next = Number(cursor) + 1;
      return { jobs: next === 9 ? jobs("a") : [], nextCursor: next === 9 ? null : `${next}` };
    },
  };
  const list = new ProjectJobs(api, NOT_ENDED);
  await list.setFilter({ ...ALL_JOBS, states: ["failed"] });
  assert.deepEqual(cursors, ["0", "1", "2", "3", "4", "5"]);
  assert.deepEqual([idsOf(list.listing.value), list.listing.value.more], ["", "6"]);
  await list.showMore();
  assert.deepEqual(cursors.slice(6), ["6", "7", "8"]);
  assert.deepEqual([idsOf(list.listing.value), list.listing.value.more], ["a", null]);
});

test("the author filter offers the authors seen and those selected", async () => {
  const { list } = open(["z", "c"]);
  await list.refresh();
  await list.setFilter({ ...ALL_JOBS, authors: ["ada"] });
  assert.deepEqual(authorChoices(list.authors.value, ["bot", null]), ["ada", "bot", "zoë"]);
});

const parse = (pairs) => parseJobsAddress(new URLSearchParams(pairs));

test("the address contains the job and the filter", () => {
  const jobs = {
    id: "a b",
    states: ["ready", "failed"],
    authors: ["zoë", "a,b"],
    text: "a&b",
  };
  assert.deepEqual(parse(formatJobsAddress(jobs)), jobs);
  const all = { id: null, ...ALL_JOBS };
  assert.deepEqual(formatJobsAddress(all), []);
  assert.deepEqual(parse([]), all);
});

test("the address ignores unknown states and shortens long texts", () => {
  const { states, text } = parse({ state: "nonsense", text: "x".repeat(300) });
  assert.deepEqual([states, text.length], [[], 200]);
});
