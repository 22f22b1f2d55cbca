/** `worker/entry/host.js` in Node.js, with a local server as the upstream of `send`. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, before, describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import { headersOf, readBody, respond, send } from "../../../worker/entry/host.js";

/** Maximum size of a body in bytes. */
const MAX_BYTES = 1000;
/** Longer than any exchange takes, even on a busy machine. */
const PATIENCE_MS = 60_000;
const REQUEST_URL = "https://gateway.example/";

const server = createServer();
let origin;

before(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  origin = `http://127.0.0.1:${server.address().port}`;
});
after(() => {
  server.close();
  server.closeAllConnections();
});

/**
 * Sends a request and waits until the server receives it.
 *
 * @param {object} [options]
 */
async function exchange({ method = "GET", path = "/", fields, body, time = PATIENCE_MS } = {}) {
  const arrival = once(server, "request");
  const reply = send(method, origin + path, new Headers(fields), body, time, MAX_BYTES);
  // The test handles a rejection later. Until then it must not count as unhandled.
  reply.catch(() => {});
  const [request, response] = await arrival;
  const closed = new Promise((resolve) => request.socket.once("close", resolve));
  return { reply, request, response, closed };
}

/** Responds with a head and the start of an endless body. */
function begin(response, status = 200, headers = {}) {
  response.writeHead(status, headers);
  response.write("start");
}

/** Resolves when the head of the next response arrives. */
function nextHead(t) {
  return new Promise((resolve) => {
    const original = globalThis.fetch;
    t.mock.method(globalThis, "fetch", async (...args) => {
      const response = await original(...args);
      resolve(undefined);
      return response;
    });
  });
}

/** Replaces the timer of `send`. It fires only when the test calls `letPass`. */
function stopClock(t) {
  // `send` sets its timer first. The timers of `fetch` stay real.
  const { mock } = t.mock.method(globalThis, "setTimeout", () => undefined, { times: 1 });
  return {
    letPass() {
      const [onTimeout, delay] = mock.calls[0].arguments;
      assert.equal(delay, PATIENCE_MS);
      onTimeout();
    },
  };
}

async function readAll(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

describe("send", { timeout: PATIENCE_MS }, () => {
  test("send passes on the method, path, fields and body", async () => {
    const { reply, request, response } = await exchange({
      method: "POST",
      path: "/v2/agent?a=%20b",
      fields: { "content-type": "application/json", authorization: "Bearer a" },
      body: '{"prompt":"é"}',
    });
    assert.equal(request.method, "POST");
    assert.equal(request.url, "/v2/agent?a=%20b");
    assert.equal(request.headers["content-type"], "application/json");
    assert.equal(request.headers.authorization, "Bearer a");
    assert.equal(request.headers["cache-control"], "no-cache");
    assert.equal(await readAll(request), '{"prompt":"é"}');
    response.end();
    await reply;
  });

  test("send rejects if the server is unreachable", async () => {
    const closed = createServer().listen(0, "127.0.0.1");
    await once(closed, "listening");
    const url = `http://127.0.0.1:${closed.address().port}`;
    closed.close();
    await once(closed, "close");
    await assert.rejects(
      send("GET", url, new Headers(), undefined, PATIENCE_MS, MAX_BYTES),
      TypeError,
    );
  });
});

describe("send with a 2xx response", { timeout: PATIENCE_MS }, () => {
  test("send returns the status, fields and body of a 2xx response", async () => {
    const { reply, response } = await exchange();
    response.writeHead(201, { "Content-Type": "application/json", "X-Request-Id": "a: b" });
    response.end('{"a":"é😀"}');
    const { status, headers, text } = await reply;
    assert.equal(status, 201);
    assert.equal(text, '{"a":"é😀"}');
    assert.match(headers, /^content-type: application\/json$/m);
    assert.match(headers, /^x-request-id: a: b$/m);
    assert.ok(headers.endsWith("\n"));
  });

  test("send returns an empty string for a 2xx response without a body", async () => {
    const { reply, response } = await exchange();
    response.writeHead(204).end();
    assert.equal((await reply).text, "");
  });

  for (const [how, headers] of [
    ["with Content-Length", { "Content-Length": MAX_BYTES }],
    ["in chunks", {}],
  ]) {
    test(`send returns a body of the maximum size ${how}`, async () => {
      const { reply, response } = await exchange();
      response.writeHead(200, headers);
      response.write("a".repeat(MAX_BYTES - 1));
      response.end("b");
      assert.equal((await reply).text, `${"a".repeat(MAX_BYTES - 1)}b`);
    });
  }

  for (const [how, headers] of [
    ["with Content-Length", { "Content-Length": 1e9 }],
    ["in chunks", {}],
  ]) {
    test(`send drops a body over the maximum size ${how} and closes the connection`, async () => {
      const { reply, response, closed } = await exchange();
      response.writeHead(200, headers);
      response.write("a".repeat(MAX_BYTES + 1));
      const { status, text } = await reply;
      assert.deepEqual({ status, text }, { status: 200, text: undefined });
      await closed;
    });
  }

  test("send drops a body that is over the maximum size after decompression", async () => {
    const { reply, response } = await exchange();
    const compressed = gzipSync("a".repeat(MAX_BYTES + 1));
    assert.ok(compressed.length < MAX_BYTES);
    const headers = { "Content-Encoding": "gzip", "Content-Length": compressed.length };
    response.writeHead(200, headers).end(compressed);
    assert.equal((await reply).text, undefined);
  });

  test("send decompresses a body", async () => {
    const { reply, response } = await exchange();
    response.writeHead(200, { "Content-Encoding": "gzip" }).end(gzipSync("plain"));
    assert.equal((await reply).text, "plain");
  });

  for (const [how, headers] of [
    ["with Content-Length", { "Content-Length": 100 }],
    ["in chunks", {}],
  ]) {
    test(`send returns no body ${how} if the connection breaks`, async (t) => {
      const head = nextHead(t);
      const { reply, request, response } = await exchange();
      begin(response, 200, headers);
      await head;
      request.socket.destroy();
      const { status, text } = await reply;
      assert.deepEqual({ status, text }, { status: 200, text: undefined });
    });
  }
});

describe("send with a response that is not 2xx", { timeout: PATIENCE_MS }, () => {
  test("send returns a response that is not 2xx as soon as its head arrives", async () => {
    const { reply, response, closed } = await exchange();
    begin(response, 503, { "Retry-After": "7" });
    const { status, headers, text } = await reply;
    assert.deepEqual({ status, text }, { status: 503, text: undefined });
    assert.match(headers, /^retry-after: 7$/m);
    (await reply).cancel();
    await closed;
  });

  test("send does not follow a redirect", async () => {
    const requests = [];
    const onRequest = ({ url }) => requests.push(url);
    server.on("request", onRequest);
    const { reply, response } = await exchange({ path: "/from" });
    response.writeHead(302, { Location: `${origin}/to` }).end("moved");
    const answer = await reply;
    assert.equal(answer.status, 302);
    assert.equal(await answer.readError(MAX_BYTES), "moved");
    server.off("request", onRequest);
    assert.deepEqual(requests, ["/from"]);
  });

  for (const [how, headers] of [
    ["with Content-Length", { "Content-Length": 5 }],
    ["in chunks", {}],
  ]) {
    test(`readError reads a body ${how} up to its limit and drops a longer one`, async () => {
      const short = await exchange();
      short.response.writeHead(400, headers).end("wrong");
      assert.equal(await (await short.reply).readError(5), "wrong");

      const long = await exchange();
      begin(long.response, 400, "Content-Length" in headers ? { "Content-Length": 1e9 } : {});
      assert.equal(await (await long.reply).readError(4), undefined);
      await long.closed;
    });
  }

  test("readError rejects if the connection breaks", async () => {
    const { reply, request, response } = await exchange();
    begin(response, 500);
    const answer = await reply;
    request.socket.destroy();
    await assert.rejects(answer.readError(MAX_BYTES));
  });

  test("cancel closes the connection, and works without a body", async () => {
    const { reply, response, closed } = await exchange();
    begin(response, 500);
    (await reply).cancel();
    await closed;

    const bodiless = await exchange();
    bodiless.response.writeHead(304).end();
    (await bodiless.reply).cancel();
  });
});

describe("a late response", { timeout: PATIENCE_MS }, () => {
  test("send rejects with a TimeoutError if the head is late", async (t) => {
    const clock = stopClock(t);
    const { reply, closed } = await exchange();
    clock.letPass();
    await assert.rejects(reply, { name: "TimeoutError" });
    await closed;
  });

  test("send returns no body if it is late", async (t) => {
    const clock = stopClock(t);
    const head = nextHead(t);
    const { reply, response, closed } = await exchange();
    begin(response);
    await head;
    clock.letPass();
    const { status, text } = await reply;
    assert.deepEqual({ status, text }, { status: 200, text: undefined });
    await closed;
  });

  test("readError rejects with a TimeoutError if the body is late", async (t) => {
    const clock = stopClock(t);
    const { reply, response, closed } = await exchange();
    begin(response, 500);
    const reading = (await reply).readError(MAX_BYTES);
    clock.letPass();
    await assert.rejects(reading, { name: "TimeoutError" });
    await closed;
  });
});

describe("readBody", () => {
  /** A request whose body arrives in these chunks. `wasCancelled` tells if the body was cancelled. */
  function requestOf(...chunks) {
    let wasCancelled = false;
    const body = new ReadableStream({
      pull(controller) {
        const chunk = chunks.shift();
        if (chunk) controller.enqueue(Buffer.from(chunk));
        else controller.close();
      },
      cancel() {
        wasCancelled = true;
      },
    });
    const options = { method: "POST", body, duplex: "half" };
    const request = new Request(REQUEST_URL, /** @type {RequestInit} */ (options));
    return { request, wasCancelled: () => wasCancelled };
  }

  /** A request with a Content-Length. */
  function withLength(bytes) {
    const headers = { "content-length": String(bytes.length) };
    return new Request(REQUEST_URL, { method: "POST", headers, body: bytes });
  }

  test("readBody decodes characters across chunks", async () => {
    const { request } = requestOf([0x61, 0xc3], [0xa9], [0xf0, 0x9f], [0x98, 0x80]);
    assert.equal(await readBody(request, MAX_BYTES), "aé😀");
    assert.equal(await readBody(withLength(Buffer.from("aé😀")), MAX_BYTES), "aé😀");
  });

  test("readBody returns an empty string for a request without a body", async () => {
    assert.equal(await readBody(new Request(REQUEST_URL), MAX_BYTES), "");
  });

  test("readBody rejects invalid UTF-8", async () => {
    // A byte that UTF-8 never uses, a surrogate, an overlong slash and a truncated character.
    for (const bytes of [[0xff], [0xed, 0xa0, 0x80], [0xc0, 0xaf], [0x61, 0xc3]]) {
      await assert.rejects(readBody(requestOf(bytes).request, MAX_BYTES), TypeError);
      await assert.rejects(readBody(withLength(Buffer.from(bytes)), MAX_BYTES), TypeError);
    }
  });

  test("readBody keeps a byte order mark", async () => {
    const bytes = Buffer.from("\ufeff{}");
    assert.equal(await readBody(requestOf(bytes).request, MAX_BYTES), "\ufeff{}");
    assert.equal(await readBody(withLength(bytes), MAX_BYTES), "\ufeff{}");
  });

  test("readBody returns a body at the limit and cancels a longer one", async () => {
    const exact = requestOf("aaa", "bb");
    assert.equal(await readBody(exact.request, 5), "aaabb");
    assert.equal(exact.wasCancelled(), false);
    const over = requestOf("aaa", "bbb", "ccc");
    assert.equal(await readBody(over.request, 5), undefined);
    assert.ok(over.wasCancelled());
    assert.equal(await readBody(withLength(Buffer.from("aaabbb")), 5), undefined);
  });

  test("readBody counts bytes, not characters", async () => {
    assert.equal(await readBody(requestOf("ééé").request, 5), undefined);
    assert.equal(await readBody(requestOf("ééé").request, 6), "ééé");
  });

  test("readBody rejects if the body fails", async () => {
    const body = new ReadableStream({ pull: (controller) => controller.error(new Error("gone")) });
    const options = { method: "POST", body, duplex: "half" };
    const request = new Request(REQUEST_URL, /** @type {RequestInit} */ (options));
    await assert.rejects(readBody(request, MAX_BYTES), { message: "gone" });
  });
});

describe("respond", () => {
  test("respond builds a response from a status, fields and a body", async () => {
    const lines = 'content-type: application/json\netag: "a: b"\nx-empty: \nno field\n';
    const response = respond(429, lines, "{}");
    assert.equal(response.status, 429);
    const fields = { "content-type": "application/json", etag: '"a: b"', "x-empty": "" };
    assert.deepEqual(Object.fromEntries(response.headers), fields);
    assert.equal(await response.text(), "{}");
  });

  test("respond keeps unusual field values unchanged", () => {
    const lines = "x-colons: a: b: c\nx-empty: \nx-latin: caf\u00e9\nno field\nx-last: 1";
    const response = respond(204, lines, null);
    const fields = { "x-colons": "a: b: c", "x-empty": "", "x-latin": "caf\u00e9", "x-last": "1" };
    assert.deepEqual(Object.fromEntries(response.headers), fields);
  });

  test("respond builds a response without a body", () => {
    for (const status of [204, 304]) {
      const response = respond(status, "etag: 1\n", null);
      assert.equal(response.status, status);
      assert.equal(response.body, null);
    }
  });

  test("headersOf returns the fields that respond received", () => {
    const lines = 'content-type: application/json\netag: "a: b"\nx-empty: \n';
    assert.equal(headersOf(respond(200, lines, "{}")), lines);
  });
});
