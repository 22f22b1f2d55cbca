/** The event stream of a project’s jobs, which all tabs share. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { importSource } from "./source.mjs";

const { JobFeed } = await importSource("jobs/job_feed.ts");

/** An API that returns these streams in order. The last one stays open. */
function fakeApi(...streams) {
  const api = { opened: 0, open: 0 };
  api.watchAll = async function* ({ signal }) {
    const stream = streams[Math.min(api.opened, streams.length - 1)];
    api.opened += 1;
    api.open += 1;
    try {
      for (const event of stream) {
        if (event instanceof Error) throw event;
        yield event;
      }
      if (api.opened >= streams.length) await ended(signal);
    } finally {
      api.open -= 1;
    }
  };
  return api;
}

const ended = (signal) =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

function start(api, shareAs = null) {
  const end = new AbortController();
  const received = [];
  const pauses = [];
  let [gaps, wake] = [0, () => {}];
  const feed = new JobFeed(api, end.signal, {
    shareAs,
    onEvent: (event) => {
      received.push(event.deleted ?? event.job.id);
      wake();
    },
    onReset: () => {
      received.push("reset");
      wake();
    },
    onGap: () => {
      gaps += 1;
      wake();
    },
    pause: async (milliseconds) => {
      pauses.push(milliseconds);
    },
  });
  /** Waits until the condition holds, checking it after each event. */
  async function until(condition) {
    while (!condition()) {
      await new Promise((resolve) => {
        wake = resolve;
      });
    }
  }
  const running = feed.run();
  return { feed, end, received, pauses, until, running, gaps: () => gaps };
}

const job = (id) => ({ job: { id } });
const refusal = (status) => Object.assign(new Error("no"), { status });

describe("feed", () => {
  test("a feed reports changed and deleted jobs", async () => {
    const { feed, received, until, end, running } = start(fakeApi([job("a"), { deleted: "b" }]));
    await until(() => received.length === 2);
    assert.deepEqual(received, ["a", "b"]);
    assert.equal(feed.state.value, "live");
    end.abort();
    await running;
  });

  test("a feed reports a reset", async () => {
    const { received, until, end, running } = start(fakeApi([{ reset: true }, job("a")]));
    await until(() => received.length === 2);
    assert.deepEqual(received, ["reset", "a"]);
    end.abort();
    await running;
  });

  test("a feed falls back to polling with an older package or gateway", async () => {
    const { feed, running } = start({});
    await running;
    assert.equal(feed.state.value, "polling");
    for (const status of [401, 403, 404]) {
      const api = fakeApi([refusal(status)]);
      const other = start(api);
      await other.running;
      assert.deepEqual([other.feed.state.value, api.opened], ["polling", 1], `${status}`);
    }
  });

  test("a broken feed reconnects with growing pauses and reports the gap", async () => {
    const broken = [refusal(503)];
    const { received, pauses, until, end, gaps, feed } = start(
      fakeApi(broken, broken, [job("a")], [job("b")]),
    );
    await until(() => received.length === 2);
    assert.deepEqual(received, ["a", "b"]);
    assert.deepEqual(pauses, [5000, 10_000, 20_000]);
    assert.equal(gaps(), 3);
    assert.equal(feed.state.value, "live");
    end.abort();
  });

  test("tabs share one stream, which another tab takes over when its tab closes", async () => {
    const locks = standInForLocks();
    Object.defineProperty(globalThis, "navigator", { value: { locks }, configurable: true });
    const api = fakeOpenApi();
    const first = start(api, "shared");
    await first.until(() => first.gaps() === 1);
    const second = start(api, "shared");
    const third = start(api, "other project");
    await third.until(() => third.gaps() === 1);
    assert.equal(api.open, 2, "one per project");
    api.streams[0](job("a"));
    await second.until(() => second.received.length === 1);
    assert.deepEqual([first.received, second.received, third.received], [["a"], ["a"], []]);
    first.end.abort();
    await second.until(() => second.gaps() === 1);
    api.streams[2](job("b"));
    await second.until(() => second.received.length === 2);
    assert.deepEqual([first.received, second.received], [["a"], ["a", "b"]]);
    second.end.abort();
    third.end.abort();
    await Promise.all([first, second, third].map(({ running }) => running));
    assert.equal(api.open, 0);
  });
});

/** An API whose streams stay open and emit the events that a test pushes. */
function fakeOpenApi() {
  const api = { open: 0, streams: [] };
  api.watchAll = async function* ({ signal }) {
    const queue = [];
    let wake = () => {};
    api.open += 1;
    api.streams.push((event) => {
      queue.push(event);
      wake();
    });
    try {
      for (;;) {
        while (queue.length > 0) yield queue.shift();
        const pushed = new Promise((resolve) => {
          wake = resolve;
        });
        await Promise.race([ended(signal), pushed]);
      }
    } finally {
      api.open -= 1;
    }
  };
  return api;
}

/** Stands in for the Web Locks API: one holder per name, in order. */
function standInForLocks() {
  const queues = new Map();
  return {
    async request(name, { signal }, hold) {
      const before = queues.get(name) ?? Promise.resolve();
      const turn = before.then(() => (signal.aborted ? undefined : hold()));
      queues.set(
        name,
        turn.catch(() => {}),
      );
      return turn;
    },
  };
}
