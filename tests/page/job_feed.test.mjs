/** The news of a project’s jobs: one stream for all tabs, or none. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { importSource } from "./source.mjs";

const { JobFeed } = await importSource("jobs/job_feed.ts");

/** A gateway whose streams bring what `streams` says, one after the other; the last stays open. */
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
  const heard = [];
  const pauses = [];
  let [gaps, wake] = [0, () => {}];
  const feed = new JobFeed(api, end.signal, {
    shareAs,
    onEvent: (event) => {
      heard.push(event.deleted ?? event.job.id);
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
  /** Waits for the next piece of news until it is so. */
  async function until(isSo) {
    while (!isSo()) {
      await new Promise((resolve) => {
        wake = resolve;
      });
    }
  }
  const running = feed.run();
  return { feed, end, heard, pauses, until, running, gaps: () => gaps };
}

const job = (id) => ({ job: { id } });
const refusal = (status) => Object.assign(new Error("no"), { status });

describe("a feed", () => {
  test("tells of jobs and of deletions", async () => {
    const { feed, heard, until, end, running } = start(fakeApi([job("a"), { deleted: "b" }]));
    await until(() => heard.length === 2);
    assert.deepEqual(heard, ["a", "b"]);
    assert.equal(feed.state.value, "live");
    end.abort();
    await running;
  });

  test("of an older package or gateway leaves it to polling", async () => {
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

  test("that breaks is opened again, later each time, and the gap is filled", async () => {
    const broken = [refusal(503)];
    const { heard, pauses, until, end, gaps, feed } = start(
      fakeApi(broken, broken, [job("a")], [job("b")]),
    );
    await until(() => heard.length === 2);
    assert.deepEqual(heard, ["a", "b"]);
    assert.deepEqual(pauses, [5000, 10_000, 20_000]);
    assert.equal(gaps(), 3);
    assert.equal(feed.state.value, "live");
    end.abort();
  });

  test("is one stream for all tabs of a browser, and goes on when its tab is closed", async () => {
    const locks = standInForLocks();
    Object.defineProperty(globalThis, "navigator", { value: { locks }, configurable: true });
    const api = fakeToldApi();
    const first = start(api, "shared");
    await first.until(() => first.gaps() === 1);
    const second = start(api, "shared");
    const third = start(api, "other project");
    await third.until(() => third.gaps() === 1);
    assert.equal(api.open, 2, "one for each project");
    api.streams[0](job("a"));
    await second.until(() => second.heard.length === 1);
    assert.deepEqual([first.heard, second.heard, third.heard], [["a"], ["a"], []]);
    first.end.abort();
    await second.until(() => second.gaps() === 1);
    api.streams[2](job("b"));
    await second.until(() => second.heard.length === 2);
    assert.deepEqual([first.heard, second.heard], [["a"], ["a", "b"]]);
    second.end.abort();
    third.end.abort();
    await Promise.all([first, second, third].map(({ running }) => running));
    assert.equal(api.open, 0);
  });
});

/** A gateway whose streams stay open and bring what each is told. */
function fakeToldApi() {
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
        const told = new Promise((resolve) => {
          wake = resolve;
        });
        await Promise.race([ended(signal), told]);
      }
    } finally {
      api.open -= 1;
    }
  };
  return api;
}

/** The locks of a browser: one at a time for each name, in order. */
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
