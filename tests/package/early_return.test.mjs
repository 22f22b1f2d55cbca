/** Callers that leave a watch or a list, mostly while the server has not answered. */

import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { afterEach, describe, test } from "node:test";
import { abortOnReturn } from "../../pkg/dist/exchange.js";
import { againstGateway, unhandled } from "./behaviour/fixtures.mjs";
import { LISTS, pageOf } from "./scripted_lists.mjs";

const NO_ANSWER = { stall: "head" };
const OPEN_STREAM = {
  headers: { "content-type": "text/event-stream" },
  text: ": open\n\n",
  stall: "body",
};
const END = { done: true, value: undefined };

const watch = ({ agentJobs }, options) => agentJobs.watch("j1", options);
const watchAll = ({ agentJobs }, options) => agentJobs.watchAll(options);

/** Per iterator: how to make it, and the responses that leave its first `next` pending. */
const ITERATORS = {
  "agentJobs.watch()": [watch, OPEN_STREAM],
  "agentJobs.watchAll()": [watchAll, OPEN_STREAM],
  "deployments.watch()": [
    ({ deployments }, options) => deployments.watch("s1", options),
    OPEN_STREAM,
  ],
  "deployments.watchAll()": [
    ({ deployments }, options) => deployments.watchAll(options),
    OPEN_STREAM,
  ],
  "watch() before its stream opens": [watch, NO_ANSWER],
  "watch() of a polled job": [watch, { status: 404 }, NO_ANSWER],
  "watchAll() before its stream opens": [watchAll, NO_ANSWER],
  "a list": [
    ({ analytics }, options) => analytics.views({}, options)[Symbol.asyncIterator](),
    NO_ANSWER,
  ],
  "a list by cursor": [
    ({ agentJobs }, options) => agentJobs.list({}, options)[Symbol.asyncIterator](),
    NO_ANSWER,
  ],
  "pages()": [({ analytics }, options) => analytics.views({}, options).pages(), NO_ANSWER],
};

afterEach(() => assert.deepEqual(unhandled.splice(0), []));

/**
 * Calls `leave` with an iterator whose `next` is pending, with that call, and with the controller of
 * the caller's signal. The connection must then end, without a listener on that signal.
 */
function whilePending([iterate, ...responses], leave) {
  const respond = (_, at) => responses[at];
  return againstGateway(respond, async (client, server) => {
    const controller = new AbortController();
    const { signal } = controller;
    const iterator = iterate(client, { signal });
    const pending = iterator.next();
    pending.catch(() => {});
    await server.arrived(responses.length);
    await leave(iterator, pending, controller);
    assert.equal(await server.requests.at(-1).ended, false);
    assert.equal(server.requests.length, responses.length);
    assert.deepEqual(getEventListeners(signal, "abort"), []);
  });
}

/** A call that never settles fails its test. */
const within = { timeout: 60_000 };

describe("A caller leaves early", () => {
  for (const [name, setup] of Object.entries(ITERATORS)) {
    test(`return() of ${name} ends a pending next() and its connection`, within, () =>
      whilePending(setup, async (iterator, pending) => {
        assert.deepEqual(await iterator.return(), END);
        assert.deepEqual(await pending, END);
        assert.deepEqual(await iterator.next(), END);
      }),
    );

    test(`return() of ${name} before the first next() sends nothing`, within, () =>
      againstGateway(NO_ANSWER, async (client, server) => {
        const { signal } = new AbortController();
        const iterator = setup[0](client, { signal });
        assert.equal(iterator[Symbol.asyncIterator](), iterator);
        assert.deepEqual(await iterator.return(), END);
        assert.deepEqual(await iterator.next(), END);
        assert.equal(server.requests.length, 0);
        assert.deepEqual(getEventListeners(signal, "abort"), []);
      }),
    );
  }

  const streaming = [watchAll, OPEN_STREAM];

  test("throw() rejects with its error, and ends pending calls of next()", within, () =>
    whilePending(streaming, async (iterator, pending) => {
      const second = iterator.next();
      const own = new RangeError("own");
      await assert.rejects(iterator.throw(own), (error) => error === own);
      assert.deepEqual(await Promise.all([pending, second, iterator.next()]), [END, END, END]);
    }),
  );

  test("return() rejects with an error of the end", within, async () => {
    const own = new RangeError("own");
    const iterator = abortOnReturn(undefined, async function* () {
      try {
        yield 1;
      } finally {
        await Promise.reject(own);
      }
    });
    await iterator.next();
    await assert.rejects(iterator.return(), (error) => error === own);
  });

  test("return() resolves to its value", within, () =>
    whilePending(streaming, async (iterator) => {
      assert.deepEqual(await iterator.return("own"), { done: true, value: "own" });
    }),
  );

  test("cancel() of a stream made from a watch ends the connection", within, () => {
    const read = (client, options) => {
      const reader = ReadableStream.from(watchAll(client, options)).getReader();
      return Object.assign(reader, { next: () => reader.read() });
    };
    return whilePending([read, OPEN_STREAM], async (reader, pending) => {
      await reader.cancel();
      assert.deepEqual(await pending, END);
    });
  });

  test("the caller's signal rejects a pending next() with its reason", within, () =>
    whilePending(streaming, async (iterator, pending, controller) => {
      const reason = new RangeError("enough");
      controller.abort(reason);
      await assert.rejects(pending, (error) => error === reason);
      assert.deepEqual(await iterator.next(), END);
    }),
  );

  test("return() between two rows ends the request for the next page", within, () => {
    const respond = (received, at) => (at === 0 ? pageOf(LISTS.views)(received) : NO_ANSWER);
    return againstGateway(respond, async (client, server) => {
      const rows = client.analytics.views()[Symbol.asyncIterator]();
      for (let row = 0; row < 126; row++) assert.equal((await rows.next()).done, false);
      await server.arrived(2);
      assert.deepEqual(await rows.return(), END);
      assert.equal(await server.requests[1].ended, false);
    });
  });
});
