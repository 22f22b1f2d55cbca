/** The list of a project’s jobs: its pages, its filter, and what news make of it. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { importSource } from "./source.mjs";

const { ProjectJobs } = await importSource("jobs/project_jobs.ts");
const { applyEvent, extendListing, renewListing } = await importSource("jobs/job_listing.ts");
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
const idsOf = (listing) => listing.jobs.map(({ id }) => id).join("");

/** A gateway with these jobs, newest first; its cursor is the last job’s id. */
function fakeApi(ledger, { filters = true } = {}) {
  const asked = [];
  const api = { ledger, asked, fail: null, holds: [] };
  api.list = async ({ limit, cursor, state, author, text }) => {
    const filter = [state, author, text].filter(Boolean);
    asked.push([limit, cursor && `after ${cursor}`, ...filter].filter(Boolean).join(" "));
    await api.holds.shift();
    if (api.fail) throw Object.assign(new Error("no"), { name: api.fail });
    if (filter.length > 0 && !filters) throw Object.assign(new Error("unknown"), { status: 400 });
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

const NEVER = new AbortController().signal;
const open = (api) => new ProjectJobs(api, NEVER);

describe("a renewal", () => {
  test("keeps the pages that were gone through", () => {
    const shown = { jobs: jobs("d", "c", "b", "a"), more: "a" };
    const renewal = renewListing(shown, { jobs: jobs("e", "d"), nextCursor: "d" });
    assert.deepEqual([idsOf(renewal), renewal.more], ["edcba", "a"]);
  });

  test("without a job in common starts again, so that none is left out", () => {
    const shown = { jobs: jobs("b", "a"), more: "a" };
    const renewal = renewListing(shown, { jobs: jobs("z", "y"), nextCursor: "y" });
    assert.deepEqual([idsOf(renewal), renewal.more], ["zy", "y"]);
  });

  test("with the last page is the whole list", () => {
    const shown = { jobs: jobs("c", "b"), more: "b" };
    const renewal = renewListing(shown, { jobs: jobs("c", "a"), nextCursor: null });
    assert.deepEqual([idsOf(renewal), renewal.more], ["ca", null]);
  });
});

test("a further page brings each job once", () => {
  const shown = { jobs: jobs("d", "c"), more: "c" };
  const further = extendListing(shown, { jobs: jobs("c", "b"), nextCursor: null });
  assert.deepEqual([idsOf(further), further.more], ["dcb", null]);
});

describe("news", () => {
  const shown = { jobs: jobs("e", "c", "b"), more: "b" };
  const after = (event, filter = {}) => applyEvent(shown, event, { ...ALL_JOBS, ...filter });

  test("of a listed job change it in its place", () => {
    const { listing } = after({ job: jobOf("c", { status: "failed" }) });
    assert.equal(idsOf(listing), "ecb");
    assert.equal(listing.jobs[1].status, "failed");
  });

  test("of another job put it where it belongs", () => {
    assert.equal(idsOf(after({ job: jobOf("f") }).listing), "fecb");
    assert.equal(idsOf(after({ job: jobOf("d") }).listing), "edcb");
    assert.equal(idsOf(after({ job: jobOf("a") }).listing), "ecb", "it comes with a later page");
    const whole = { ...shown, more: null };
    assert.equal(idsOf(applyEvent(whole, { job: jobOf("a") }, ALL_JOBS).listing), "ecba");
  });

  test("of a deletion take the job away", () => {
    assert.equal(idsOf(after({ deleted: "c" }).listing), "eb");
    assert.equal(after({ deleted: "q" }).listing, shown);
  });

  test("of a job that is no longer asked for take it away", () => {
    const failed = { job: jobOf("c", { status: "failed" }) };
    assert.equal(idsOf(after(failed, { state: "active" }).listing), "eb");
    assert.equal(idsOf(after({ job: jobOf("z") }, { author: "ada" }).listing), "ecb");
  });

  test("of a job whose text only the gateway knows leave the question open", () => {
    const { listing, isOpen } = after({ job: jobOf("f") }, { text: "links" });
    assert.deepEqual([idsOf(listing), isOpen], ["ecb", true]);
    assert.equal(after({ job: jobOf("c") }, { text: "links" }).isOpen, false);
  });
});

describe("the list", () => {
  test("goes page by page to the end, and a renewal covers what is shown", async () => {
    const ledger = [...LETTERS, ..."0123456789"].map((id, n) =>
      jobOf(id, { createdAt: `${99 - n}` }),
    );
    const api = fakeApi(ledger);
    const list = open(api);
    await list.refresh();
    assert.equal(list.listing.value.jobs.length, 25);
    await list.showMore();
    await list.refresh();
    assert.deepEqual(
      list.listing.value.jobs.map(({ id }) => id),
      ledger.map(({ id }) => id),
    );
    assert.equal(list.listing.value.more, null);
    await list.showMore();
    assert.deepEqual(api.asked, ["25", "25 after b", "36"]);
  });

  test("is asked for once by renewals that have not begun, and one after the other", async () => {
    const api = fakeApi(LETTERS);
    const list = open(api);
    await Promise.all([list.refresh(), list.refresh(), list.showMore(), list.refresh()]);
    assert.deepEqual(api.asked, ["25", "25 after b"]);
    await list.refresh();
    assert.equal(api.asked.length, 3);
  });

  test("does not lose to an older page what came while that was asked for", async () => {
    const api = fakeApi(["c", "b", "a"]);
    const met = [];
    const list = new ProjectJobs(api, NEVER, (jobs) => met.push(...jobs.map(({ id }) => id)));
    await list.refresh();
    let release;
    api.holds = [
      new Promise((resolve) => {
        release = resolve;
      }),
    ];
    met.length = 0;
    const renewal = list.refresh();
    await new Promise((resolve) => setImmediate(resolve));
    list.receive({ job: jobOf("d") });
    list.receive({ job: jobOf("b", { status: "failed" }) });
    list.receive({ deleted: "a" });
    release();
    await renewal;
    assert.equal(idsOf(list.listing.value), "dcb");
    assert.equal(list.find("b").status, "failed");
    assert.deepEqual(met, ["d", "b", "c"], "no older state is told after a newer one");
  });

  test("does not take back the news that came while more was asked for", async () => {
    const api = fakeApi(LETTERS);
    const list = open(api);
    await list.refresh();
    const more = list.showMore();
    list.receive({ deleted: "z" });
    await more;
    assert.equal(idsOf(list.listing.value), LETTERS.slice(1).join(""));
  });

  test("tells of a failure when somebody waits for it or there is nothing to see", async () => {
    const api = fakeApi(LETTERS);
    const list = open(api);
    api.fail = "ConnectionError";
    assert.equal(await list.refresh(), false);
    assert.match(list.problem.value.title, /could not be reached/);
    api.fail = null;
    assert.equal(await list.refresh(), true);
    assert.equal(list.problem.value, null);
    api.fail = "ConnectionError";
    assert.equal(await list.refresh(), false);
    assert.equal(list.problem.value, null);
    assert.equal(await list.refresh("by the person"), false);
    assert.notEqual(list.problem.value, null);
    assert.equal(list.listing.value.jobs.length, 25);
  });

  test("asks for nothing more when the session has ended", async () => {
    const end = new AbortController();
    const api = fakeApi(LETTERS);
    const list = new ProjectJobs(api, end.signal);
    end.abort();
    assert.equal(await list.refresh(), false);
    assert.deepEqual([api.asked, list.problem.value], [[], null]);
  });
});

describe("a filter", () => {
  test("is the gateway’s to carry out", async () => {
    const api = fakeApi(LETTERS);
    const list = open(api);
    await list.setFilter({ state: "active", author: "ada", text: " PROMPT c " });
    assert.deepEqual(api.asked, ["25 active ada PROMPT c"]);
    assert.equal(idsOf(list.listing.value), "c");
    assert.deepEqual(filterParams({ ...ALL_JOBS, text: "x".repeat(300) }).text.length, 200);
  });

  test("that has changed by the time of the answer is not answered by it", async () => {
    const api = fakeApi(LETTERS);
    const list = open(api);
    const releases = [];
    const hold = () => new Promise((resolve) => releases.push(resolve));
    api.holds = [hold(), hold()];
    const first = list.setFilter({ ...ALL_JOBS, author: "ada" });
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(api.asked, ["25 ada"]);
    const second = list.setFilter({ ...ALL_JOBS, text: "prompt z" });
    releases[0]();
    await first;
    assert.equal(list.listing.value, null);
    releases[1]();
    await second;
    assert.equal(idsOf(list.listing.value), "z");
  });

  test("asks again when only the gateway can tell whether a job belongs there", async () => {
    const api = fakeApi(["c", "b"]);
    const list = open(api);
    await list.setFilter({ ...ALL_JOBS, text: "prompt" });
    api.ledger = ["d", "c", "b"];
    list.receive({ job: jobOf("d", { prompt: "The text is in its second line" }) });
    await list.refresh();
    assert.equal(idsOf(list.listing.value), "dcb");
  });

  test("is carried out here where the gateway is older, on all that is loaded", async () => {
    const api = fakeApi(LETTERS, { filters: false });
    const list = open(api);
    await list.setFilter({ ...ALL_JOBS, text: "prompt c" });
    assert.equal(list.filteredBy.value, "page");
    assert.equal(idsOf(list.listing.value), "c");
    assert.equal(list.lookedThrough.value, 25);
    await list.setFilter({ ...ALL_JOBS, author: "ada" });
    assert.equal(idsOf(list.listing.value), "mlkjihgfedcb");
    await list.showMore();
    assert.equal(idsOf(list.listing.value), "mlkjihgfedcba");
  });

  test("offers whom the list has shown, and who is asked for", async () => {
    const list = open(fakeApi(["z", "c"]));
    await list.refresh();
    await list.setFilter({ ...ALL_JOBS, author: "ada" });
    assert.deepEqual(authorChoices(list.authors.value, ["bot", null]), ["ada", "bot", "zoë"]);
  });
});

describe("the address", () => {
  const parse = (pairs) => parseJobsAddress(new URLSearchParams(pairs));

  test("keeps the job and the filter", () => {
    const jobs = { id: "a b", state: "failed", author: "zoë", text: "a&b" };
    assert.deepEqual(parse(formatJobsAddress(jobs)), jobs);
    const all = { id: null, ...ALL_JOBS };
    assert.deepEqual(formatJobsAddress(all), []);
    assert.deepEqual(parse([]), all);
  });

  test("asks for no state that there is not, and for no more text than is looked for", () => {
    const { state, text } = parse({ state: "nonsense", text: "x".repeat(300) });
    assert.deepEqual([state, text.length], [null, 200]);
  });
});
