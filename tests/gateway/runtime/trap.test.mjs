import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { START_MAIN } from "../../../scripts/build.mjs";
import { startGateway } from "../../harness/gateway.mjs";
import { Receiver } from "../../harness/receiver.mjs";
import { assertViews, closedRange, until, viewsOf, withoutQuota } from "../analytics_requests.mjs";
import { isNow, keyed, useJobs, webhookVars } from "../jobs_gateway.mjs";
import { Exchange } from "../raw_http.mjs";
import {
  ALLOWED_ORIGIN,
  assertProblem,
  before,
  PROJECT,
  startGate,
  useServer,
} from "../recorded_gateway.mjs";
import { BUILT_SCRIPT, configWith } from "../wrangler_config.mjs";

/** The project of the watched job. The simulator never holds the polls of this job. */
const WATCHED = "watched-docs";

// Numbers of requests in flight when the Worker traps. The simulator holds the reads, views and
// creations until after the trap.
const READS = 15;
const VIEWS = 15;
/** The maximum number of view requests that go upstream concurrently. */
const SENT_VIEWS = 4;
const CREATIONS = 5;
const LONG_POLLS = 5;
const STREAMS = 10;
/** The number of reads in flight at a second gateway. The simulator holds these reads too. */
const OTHER_READS = 3;

/** The upstream timeout is so long that it cannot end a hanging request. */
const UPSTREAM_TIMEOUT_SECONDS = 300;
const ROUNDS = 8;
const PATIENCE_MS = 60_000;
const PLACES = [
  { name: "in the Worker", query: "where=now" },
  { name: "in the Worker after an await", query: "where=later" },
  { name: "in the project object", query: `where=project&project=${PROJECT}` },
  { name: "in the organization object", query: "where=organization" },
];
const withoutCheckedAt = ({ checkedAt, ...job }) => job;
const repeat = (count, make) => Array.from({ length: count }, (_, index) => make(index));

const CONFIG = configWith({ path: START_MAIN });

function useTrapJobs(name, readVars = () => ({})) {
  return useJobs(name, () => ({
    config: CONFIG,
    projects: [PROJECT, WATCHED],
    traps: true,
    vars: { UPSTREAM_TIMEOUT_SECONDS: String(UPSTREAM_TIMEOUT_SECONDS), ...readVars() },
  }));
}

function trap(gate, { query }) {
  return gate.send({ method: "POST", target: `/__trap?${query}`, authorization: null });
}

function open({ gate, authorization }, { method = "GET", headers = [], ...request }) {
  const all = [["Origin", ALLOWED_ORIGIN], ...headers];
  return gate.open(gate.bytes({ method, authorization, headers: all, ...request }), method);
}

function openAt(other, { gate, authorization }, target) {
  const host = `127.0.0.1:${other.port}`;
  return new Exchange(other.port, gate.bytes({ target, authorization, host }));
}

async function readAnswer(exchange) {
  const answer = await exchange.until(({ complete }) => complete);
  const at = performance.now();
  exchange.leave();
  return { answer, at };
}

const readAnswers = (exchanges) => Promise.all(exchanges.map(readAnswer));

function creation(jobs, key) {
  const json = { prompt: `under ${key}` };
  return { method: "POST", target: jobs.path(), json, headers: keyed(key) };
}

const create = (jobs, key) => jobs.send(`under ${key}`, { headers: keyed(key) });

async function remainingBudgets(jobs) {
  const { project, organization } = await jobs.read(`/healthz?deep&project=${PROJECT}`);
  return {
    creations: project.budgets["create-job"].left,
    analytics: organization.budgets.analytics.left,
  };
}

/** One client of a job's stream. The client reconnects as an `EventSource` does. */
class Watcher {
  #open;
  /** One stream per connection. */
  streams = [];

  /** @param {(lastEventId?: string) => import("../../harness/event_source.mjs").EventStream} open */
  constructor(open) {
    this.#open = open;
    this.streams.push(open());
  }

  get #stream() {
    return this.streams.at(-1);
  }

  get events() {
    const all = this.streams.flatMap(({ events }) => events);
    return all.map(({ lastEventId, data }) => [lastEventId, data]);
  }

  get ended() {
    return this.#stream.ended;
  }

  async untilStatus(status) {
    const deadline = performance.now() + PATIENCE_MS;
    while (performance.now() < deadline) {
      const event = this.#stream.event(isNow(status));
      const arrived = await event.then(
        () => true,
        () => false,
      );
      if (arrived) return;
      assert.ok(this.#stream.isOver, "a stream stayed open without an event");
      await sleep(50);
      const [lastEventId] = this.events.at(-1);
      this.streams.push(this.#open(lastEventId));
    }
    assert.fail(`no event with status ${status} within ${PATIENCE_MS} ms`);
  }
}

// The tests of repeated traps include a trap that is not after an await.
for (const [index, place] of PLACES.slice(1).entries()) {
  describe(`a trap ${place.name}`, () => {
    const keys = repeat(CREATIONS, (number) => `in-flight-${number}`);
    const jobs = useTrapJobs(`trap-${index}`);
    /** A second gateway: the same Worker in another isolate. */
    let other;
    let stored;
    let watched;
    let watchers;
    /** Reads in flight on the other gateway. */
    let otherReads;
    /** Whether a held read on the other gateway got a response. */
    let otherAnswered;
    let trapAnswer;
    let answers;
    /** The last response in flight arrived this many milliseconds after the trap's response. */
    let lastAfter;
    let nextAnswers;

    before(async () => {
      other = await startGateway({ ...jobs.gate.settings, state: undefined });
      stored = await storeState();
      await watchJob();
      const inFlight = await openRequests();

      trapAnswer = await trap(jobs.gate, place);
      const trappedAt = performance.now();
      nextAnswers = await Promise.all([
        jobs.gate.get("/healthz", { authorization: null }),
        jobs.gate.get(stored.page.target, withoutQuota(jobs.gate)),
      ]);
      answers = await readAnswers(inFlight);
      lastAfter = Math.max(...answers.map(({ at }) => at)) - trappedAt;

      otherAnswered = otherReads.some(({ answer }) => answer.hasHead);
      await jobs.upstream.release();
      otherReads = await readAnswers(otherReads);
    });
    after(() => other?.stop());

    async function storeState() {
      const created = await create(jobs, "stored");
      assert.equal(created.status, 201, created.text);
      const target = viewsOf(closedRange());
      const { text } = await jobs.get(target);
      const { jobs: list } = await jobs.list();
      return { created, page: { target, text }, list, budgets: await remainingBudgets(jobs) };
    }

    async function watchJob() {
      watched = await jobs.create("be watched", { project: WATCHED });
      const watch = (lastEventId) => jobs.watch(watched.id, { project: WATCHED, lastEventId });
      watchers = repeat(STREAMS, () => new Watcher(watch));
      await Promise.all(watchers.map((watcher) => watcher.untilStatus("active")));
    }

    async function openRequests() {
      const job = jobs.path(stored.created.json.id);
      await jobs.upstream.hold({ operation: "agentJobs.get", target: job });
      await jobs.upstream.hold({ operation: "analytics.views" });
      await jobs.upstream.hold({ operation: "agentJobs.create", process: true });
      const reads = repeat(READS, () => open(jobs, { target: job }));
      const views = repeat(VIEWS, () => open(jobs, { target: viewsOf(closedRange()) }));
      const creations = keys.map((key) => open(jobs, creation(jobs, key)));
      otherReads = repeat(OTHER_READS, () => openAt(other, jobs, job));
      await jobs.upstream.untilHeld(READS + SENT_VIEWS + CREATIONS + OTHER_READS);
      const analytics = stored.budgets.analytics - VIEWS;
      await until(async () => (await remainingBudgets(jobs)).analytics === analytics);

      // The long polls come last, because they end after 25 s of the gateway's clock.
      const watchedJob = jobs.path(watched.id, { project: WATCHED });
      const headers = [["Prefer", "wait=25"]];
      const longPolls = repeat(LONG_POLLS, () => open(jobs, { target: watchedJob, headers }));
      const all = STREAMS + LONG_POLLS;
      await jobs.untilHealth((health) => health.watchers === all, WATCHED);
      return [...reads, ...views, ...creations, ...longPolls];
    }

    test(`responds 500 to a request that traps ${place.name}, and logs it`, async () => {
      const { instance } = assertProblem(trapAnswer, 500, "internal");
      const line = new RegExp(`\\{.*"requestId":"${instance}".*\\}`);
      const [logged] = await until(() => line.exec(jobs.gate.gateway.log()));
      const { status, operator } = JSON.parse(logged);
      assert.equal(status, 500);
      assert.ok(operator, "the log line has a message for the operator");
    });

    test(`responds 500 to every request in flight immediately after a trap ${place.name}`, (t) => {
      for (const { answer } of answers) assertProblem(answer, 500, "internal");
      const ids = answers.map(({ answer }) => answer.header("x-request-id"));
      assert.equal(new Set(ids).size, answers.length, "each response has its own request id");
      const delay = `${lastAfter.toFixed(1)} ms`;
      t.diagnostic(`the last of ${ids.length} responses came ${delay} after the trap's own`);
    });

    test(`reports an unknown outcome only for writes in flight at a trap ${place.name}`, () => {
      const outcomes = answers.map(({ answer }) => answer.json.outcome);
      const expected = Array(answers.length).fill(undefined);
      expected.fill("unknown", READS + VIEWS, READS + VIEWS + CREATIONS);
      assert.deepEqual(outcomes, expected);
      assert.equal(trapAnswer.json.outcome, "unknown");
    });

    test(`lets allowed pages read responses after a trap ${place.name}`, () => {
      for (const { answer } of answers) {
        assert.equal(answer.header("access-control-allow-origin"), ALLOWED_ORIGIN);
        assert.match(answer.header("access-control-expose-headers"), /\bX-Request-Id\b/);
      }
    });

    test(`serves the next request after a trap ${place.name}`, async () => {
      const [health, page] = nextAnswers;
      assert.equal(health.status, 200, health.text);
      assertViews(page, "hit; ttl=+");
      assert.equal(page.text, stored.page.text);
      const { id } = stored.created.json;
      assert.equal((await jobs.get(jobs.path(id))).json.id, id);
    });

    test(`serves other isolates normally after a trap ${place.name}`, () => {
      assert.equal(otherAnswered, false);
      for (const { answer } of otherReads) {
        assert.deepEqual([answer.status, answer.complete], [200, true], answer.text);
      }
    });

    test(`keeps the budget reservations of requests in flight at a trap ${place.name}`, async () => {
      const expected = {
        creations: stored.budgets.creations - CREATIONS,
        analytics: stored.budgets.analytics - VIEWS,
      };
      assert.deepEqual(await remainingBudgets(jobs), expected);
      assertViews(await jobs.get(viewsOf(closedRange())), "fwd=uri-miss; stored");
      expected.analytics -= 1;
      assert.deepEqual(await remainingBudgets(jobs), expected);
    });

    test(`keeps stored responses and the job list after a trap ${place.name}`, async () => {
      const { created, list } = stored;
      const replayed = await create(jobs, "stored");
      assert.equal(replayed.header("idempotent-replayed"), "true", replayed.text);
      assert.deepEqual([replayed.status, replayed.text], [created.status, created.text]);
      const json = await jobs.list();
      assert.deepEqual(json.jobs.map(withoutCheckedAt), list.map(withoutCheckedAt));
    });

    test(`reports creations in flight at a trap ${place.name} as unknown outcomes`, async () => {
      const earlier = await jobs.upstream.counters();
      for (const key of keys) {
        const problem = assertProblem(await create(jobs, key), 409, "outcome-unknown");
        assert.equal(problem.outcome, "unknown");
      }
      const { jobsCreated, byOperation } = await jobs.upstream.counters();
      assert.equal(jobsCreated, earlier.jobsCreated);
      assert.equal(byOperation["agentJobs.create"], earlier.byOperation["agentJobs.create"]);
      assert.equal((await create(jobs, "after-the-trap")).status, 201);
    });

    test(`sends each event exactly once to every watcher across a trap ${place.name}`, async (t) => {
      const changes = ["planning", "completed"];
      for (const status of changes) {
        await jobs.upstream.setJob(watched.id, { status });
        await Promise.all(watchers.map((watcher) => watcher.untilStatus(status)));
      }
      const expected = ["active", ...changes].map((status, number) => {
        return [String(number + 1), JSON.stringify({ ...watched, status })];
      });
      for (const watcher of watchers) {
        assert.deepEqual(watcher.events, expected);
        assert.equal(await watcher.ended, "clean");
      }
      const reconnected = watchers.filter(({ streams }) => streams.length > 1).length;
      t.diagnostic(`${reconnected} of ${STREAMS} watchers had to reconnect`);
    });
  });
}

describe("repeated traps", () => {
  const receiver = useServer(new Receiver());
  const jobs = useTrapJobs("traps", () => webhookVars(receiver));

  /** Asserts that a creation, the job list, page views and a stream work. */
  async function assertWorking(key) {
    const created = await create(jobs, key);
    assert.equal(created.status, 201, created.text);
    const { id } = created.json;
    const [newest] = (await jobs.list({ limit: 1 })).jobs;
    assert.equal(newest.id, id);
    assertViews(await jobs.get(viewsOf(closedRange())), "fwd=uri-miss; stored");
    const stream = await jobs.watching(id);
    stream.leave();
  }

  test("responds to each of several concurrent traps and works after them", async () => {
    const traps = repeat(ROUNDS, (index) => trap(jobs.gate, PLACES[index % PLACES.length]));
    for (const answer of await Promise.all(traps)) assertProblem(answer, 500, "internal");
    await assertWorking("concurrent");
  });
});

describe("the release build", () => {
  test("responds 404 to the trap route in the release build", async () => {
    const gate = await startGate("no-trap");
    try {
      for (const place of PLACES) assertProblem(await trap(gate, place), 404, "not-found");
      assert.equal((await gate.get("/healthz")).status, 200);
    } finally {
      await gate.stop();
    }
  });

  test("does not contain the trap route's path in the release build", () => {
    const files = [BUILT_SCRIPT, join(dirname(BUILT_SCRIPT), "gateway_bg.wasm")];
    for (const file of files) assert.ok(!readFileSync(file).includes("__trap"), file);
  });
});
