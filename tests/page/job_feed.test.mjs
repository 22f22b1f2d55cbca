import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as settle } from "node:timers/promises";
import { column } from "./columns.mjs";
import { importSource } from "./source.mjs";
import { createGate, until } from "./waiting.mjs";

const { Feed } = await importSource("live/feed.ts");

/** Returns a source of these streams, in order. The last one stays open and emits what is pushed. */
function fakeSource(...streams) {
  const api = { open: 0, streams: [], listeners: [] };
  api.openStream = async function* (options) {
    const place = api.listeners.push(options);
    const queue = [...(streams[Math.min(place, streams.length) - 1] ?? [])];
    let wake = () => {};
    api.open += 1;
    api.streams.push((event) => {
      queue.push(event);
      wake();
    });
    try {
      for (;;) {
        while (queue.length > 0) {
          const event = queue.shift();
          if (event instanceof Error) throw event;
          yield event;
        }
        if (place < streams.length) return;
        const pushed = createGate();
        wake = pushed.open;
        await Promise.race([ended(options.signal), pushed.opened]);
      }
    } finally {
      api.open -= 1;
    }
  };
  return api;
}

const ended = (signal) =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

/** Returns a clock that only `pass` advances. Its pauses end immediately. */
function fakeClock() {
  const timers = new Set();
  return {
    pauses: [],
    async pause(milliseconds) {
      this.pauses.push(milliseconds);
    },
    delay(milliseconds, callback) {
      const timer = { left: milliseconds, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    pass(milliseconds) {
      for (const timer of [...timers]) {
        timer.left -= milliseconds;
        if (timer.left > 0) continue;
        timers.delete(timer);
        timer.callback();
      }
    },
  };
}

function start(t, api, shareAs = null) {
  const end = new AbortController();
  const received = [];
  const clock = fakeClock();
  let gaps = 0;
  const feed = new Feed(end.signal, {
    openStream: api.openStream,
    revision: async () => null,
    shareAs,
    onEvent: (event) => received.push(event.deleted ?? event.job.id),
    onReset: () => received.push("reset"),
    onGap: () => {
      gaps += 1;
    },
    clock,
  });
  const running = feed.run();
  t.after(() => {
    end.abort();
    return running;
  });
  return { feed, end, received, clock, running, gaps: () => gaps };
}

const job = (id) => ({ job: { id } });
const refusal = (status) => Object.assign(new Error("no"), { status });

test("a feed reports changed and deleted jobs", async (t) => {
  const { feed, received } = start(t, fakeSource([job("a"), { deleted: "b" }]));
  await until(() => received.length === 2);
  assert.deepEqual(received, ["a", "b"]);
  assert.equal(feed.state.value, "live");
});

test("a feed reports a reset", async (t) => {
  const { received } = start(t, fakeSource([{ reset: true }, job("a")]));
  await until(() => received.length === 2);
  assert.deepEqual(received, ["reset", "a"]);
});

test("a feed falls back to polling if the gateway refuses the stream", async (t) => {
  for (const status of [401, 403, 404]) {
    const api = fakeSource([refusal(status)]);
    const other = start(t, api);
    await other.running;
    assert.deepEqual([other.feed.state.value, api.listeners.length], ["polling", 1], `${status}`);
  }
});

test("a broken feed reconnects with growing pauses and reports the gap", async (t) => {
  const broken = [refusal(503)];
  const source = fakeSource(broken, broken, [job("a")], [job("b")]);
  const { received, clock, gaps, feed } = start(t, source);
  await until(() => received.length === 2);
  assert.deepEqual(received, ["a", "b"]);
  assert.deepEqual(clock.pauses, [5000, 10_000, 20_000]);
  assert.equal(gaps(), 2, "one before each stream that delivers");
  assert.equal(feed.state.value, "live");
});

test("a feed is live only after the stream has delivered something", async (t) => {
  const source = fakeSource();
  const { feed, clock } = start(t, source);
  await settle();
  assert.equal(feed.state.value, "connecting");
  clock.pass(5_000);
  assert.equal(feed.state.value, "polling");
  source.listeners[0].onData();
  assert.equal(feed.state.value, "live");
});

test("a silent stream falls back to polling, and its next heartbeat reports a gap", async (t) => {
  const source = fakeSource();
  const { feed, clock, gaps } = start(t, source);
  await settle();
  const [{ onData }] = source.listeners;
  onData();
  for (let heartbeats = 0; heartbeats < 3; heartbeats += 1) {
    clock.pass(15_000);
    onData();
  }
  assert.deepEqual([feed.state.value, gaps()], ["live", 0]);
  clock.pass(25_000);
  assert.equal(feed.state.value, "polling");
  onData();
  assert.deepEqual([feed.state.value, gaps()], ["live", 1]);
});

test("a stream that the client opens again counts as a gap", async (t) => {
  const source = fakeSource();
  const { feed, gaps } = start(t, source);
  await settle();
  const [{ onData, onEnd }] = source.listeners;
  onData();
  onEnd();
  assert.deepEqual([feed.state.value, gaps()], ["connecting", 0]);
  onData();
  assert.deepEqual([feed.state.value, gaps()], ["live", 1]);
});

test("a feed is offline while the browser is", async (t) => {
  const browser = standInForNetwork(t);
  const source = fakeSource();
  const { feed, clock, gaps } = start(t, source);
  await settle();
  source.listeners[0].onData();
  browser.dispatchEvent(new Event("offline"));
  source.listeners[0].onEnd();
  clock.pass(5_000);
  assert.equal(feed.state.value, "offline");
  browser.dispatchEvent(new Event("online"));
  assert.deepEqual([feed.state.value, gaps()], ["polling", 1]);
});

test("tabs share one stream, which another tab takes over when its tab closes", async (t) => {
  const locks = standInForLocks();
  Object.defineProperty(globalThis, "navigator", { value: { locks }, configurable: true });
  const api = fakeSource();
  const first = start(t, api, "shared");
  await until(() => first.gaps() === 1);
  const second = start(t, api, "shared");
  const third = start(t, api, "other project");
  await until(() => third.gaps() === 1);
  assert.equal(api.open, 2, "one per project");
  api.streams[0](job("a"));
  await until(() => second.received.length === 1);
  assert.deepEqual([first.received, second.received, third.received], [["a"], ["a"], []]);
  first.end.abort();
  await until(() => second.gaps() === 1);
  api.streams[2](job("b"));
  await until(() => second.received.length === 2);
  assert.deepEqual([first.received, second.received], [["a"], ["a", "b"]]);
  second.end.abort();
  third.end.abort();
  await Promise.all(column([first, second, third], "running"));
  assert.equal(api.open, 0);
});

/** Lets a test dispatch the network events of a window. */
function standInForNetwork(t) {
  const browser = new EventTarget();
  const { addEventListener } = globalThis;
  globalThis.addEventListener = browser.addEventListener.bind(browser);
  t.after(() => {
    globalThis.addEventListener = addEventListener;
  });
  return browser;
}

/** Stands in for the Web Locks API: one holder per name, in order. */
function standInForLocks() {
  const queues = new Map();
  return {
    async request(name, { signal }, hold) {
      const before = queues.get(name) ?? Promise.resolve();
      const turn = before.then(() => (signal.aborted ? undefined : hold()));
      const settled = turn.catch(() => {});
      queues.set(name, settled);
      return turn;
    },
  };
}
