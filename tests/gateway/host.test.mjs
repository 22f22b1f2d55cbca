/** `worker/entry/host.js` by itself, in Node.js: `send` against a server that does as it is told. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, before, describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import { headersOf, readBody, respond, send } from "../../worker/entry/host.js";

const LONGEST = 1000;
/** More than any exchange here takes on a busy machine. */
const PATIENCE_MS = 60_000;
const URL_OF_A_CALLER = "https://gateway.example/";

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
 * Sends a request, and waits until the server has it.
 *
 * @param {object} [options]
 */
async function exchange({ method = "GET", path = "/", fields, body, time = PATIENCE_MS } = {}) {
  const arrival = once(server, "request");
  const reply = send(method, origin + path, new Headers(fields), body, time, LONGEST);
  // Whoever waits for it hears of it; nobody may yet.
  reply.catch(() => {});
  const [request, response] = await arrival;
  const closed = new Promise((resolve) => request.socket.once("close", resolve));
  return { reply, request, response, closed };
}

/** Answers with a head and the beginning of a body that never ends. */
function begin(response, status = 200, headers = {}) {
  response.writeHead(status, headers);
  response.write("begun");
}

/** Resolves when the head of the next answer has come. */
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

/** Time that passes only when the test says so. */
function stopClock(t) {
  // Only the timer that `send` sets at once: what `fetch` has timers for goes on.
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

describe("a request", { timeout: PATIENCE_MS }, () => {
  test("has the method, the path, the fields and the body", async () => {
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

  test("to a server that is not there is rejected", async () => {
    const closed = createServer().listen(0, "127.0.0.1");
    await once(closed, "listening");
    const url = `http://127.0.0.1:${closed.address().port}`;
    closed.close();
    await once(closed, "close");
    await assert.rejects(
      send("GET", url, new Headers(), undefined, PATIENCE_MS, LONGEST),
      TypeError,
    );
  });
});

describe("a 2xx answer", { timeout: PATIENCE_MS }, () => {
  test("has its status, its fields and its text", async () => {
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

  test("that has no body has empty text", async () => {
    const { reply, response } = await exchange();
    response.writeHead(204).end();
    assert.equal((await reply).text, "");
  });

  for (const [how, headers] of [
    ["of an announced length", { "Content-Length": LONGEST }],
    ["in chunks", {}],
  ]) {
    test(`as long as allowed ${how} has its text`, async () => {
      const { reply, response } = await exchange();
      response.writeHead(200, headers);
      response.write("a".repeat(LONGEST - 1));
      response.end("b");
      assert.equal((await reply).text, `${"a".repeat(LONGEST - 1)}b`);
    });
  }

  for (const [how, headers] of [
    ["of an announced length", { "Content-Length": 1e9 }],
    ["in chunks", {}],
  ]) {
    test(`that is longer than allowed ${how} has no text, and is let go`, async () => {
      const { reply, response, closed } = await exchange();
      response.writeHead(200, headers);
      response.write("a".repeat(LONGEST + 1));
      const { status, text } = await reply;
      assert.deepEqual({ status, text }, { status: 200, text: undefined });
      await closed;
    });
  }

  test("that is longer than allowed once it is unpacked has no text", async () => {
    const { reply, response } = await exchange();
    const packed = gzipSync("a".repeat(LONGEST + 1));
    assert.ok(packed.length < LONGEST);
    const headers = { "Content-Encoding": "gzip", "Content-Length": packed.length };
    response.writeHead(200, headers).end(packed);
    assert.equal((await reply).text, undefined);
  });

  test("that was packed has its text", async () => {
    const { reply, response } = await exchange();
    response.writeHead(200, { "Content-Encoding": "gzip" }).end(gzipSync("unpacked"));
    assert.equal((await reply).text, "unpacked");
  });

  for (const [how, headers] of [
    ["of an announced length", { "Content-Length": 100 }],
    ["in chunks", {}],
  ]) {
    test(`that breaks off ${how} has no text`, async (t) => {
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

describe("an answer that is not 2xx", { timeout: PATIENCE_MS }, () => {
  test("is there as soon as its head is, without text", async () => {
    const { reply, response, closed } = await exchange();
    begin(response, 503, { "Retry-After": "7" });
    const { status, headers, text } = await reply;
    assert.deepEqual({ status, text }, { status: 503, text: undefined });
    assert.match(headers, /^retry-after: 7$/m);
    (await reply).cancel();
    await closed;
  });

  test("that redirects is not followed", async () => {
    const requests = [];
    const onRequest = ({ url }) => requests.push(url);
    server.on("request", onRequest);
    const { reply, response } = await exchange({ path: "/from" });
    response.writeHead(302, { Location: `${origin}/to` }).end("moved");
    const answer = await reply;
    assert.equal(answer.status, 302);
    assert.equal(await answer.readError(LONGEST), "moved");
    server.off("request", onRequest);
    assert.deepEqual(requests, ["/from"]);
  });

  for (const [how, headers] of [
    ["of an announced length", { "Content-Length": 5 }],
    ["in chunks", {}],
  ]) {
    test(`is read ${how} by readError, and no further than its bound`, async () => {
      const short = await exchange();
      short.response.writeHead(400, headers).end("wrong");
      assert.equal(await (await short.reply).readError(5), "wrong");

      const long = await exchange();
      begin(long.response, 400, "Content-Length" in headers ? { "Content-Length": 1e9 } : {});
      assert.equal(await (await long.reply).readError(4), undefined);
      await long.closed;
    });
  }

  test("that breaks off is rejected by readError", async () => {
    const { reply, request, response } = await exchange();
    begin(response, 500);
    const answer = await reply;
    request.socket.destroy();
    await assert.rejects(answer.readError(LONGEST));
  });

  test("is let go by cancel, whether it has a body or not", async () => {
    const { reply, response, closed } = await exchange();
    begin(response, 500);
    (await reply).cancel();
    await closed;

    const bodiless = await exchange();
    bodiless.response.writeHead(304).end();
    (await bodiless.reply).cancel();
  });
});

describe("an answer that does not come in time", { timeout: PATIENCE_MS }, () => {
  test("is rejected with a TimeoutError when its head is late", async (t) => {
    const clock = stopClock(t);
    const { reply, closed } = await exchange();
    clock.letPass();
    await assert.rejects(reply, { name: "TimeoutError" });
    await closed;
  });

  test("has no text when its body is late", async (t) => {
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

  test("is rejected by readError when an error's body is late", async (t) => {
    const clock = stopClock(t);
    const { reply, response, closed } = await exchange();
    begin(response, 500);
    const reading = (await reply).readError(LONGEST);
    clock.letPass();
    await assert.rejects(reading, { name: "TimeoutError" });
    await closed;
  });
});

describe("readBody", () => {
  /** A request whose body comes in these chunks; `wasCancelled` says whether it was let go. */
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
    const request = new Request(URL_OF_A_CALLER, /** @type {RequestInit} */ (options));
    return { request, wasCancelled: () => wasCancelled };
  }

  /** A request that announces the length of its body. */
  function announced(bytes) {
    const headers = { "content-length": String(bytes.length) };
    return new Request(URL_OF_A_CALLER, { method: "POST", headers, body: bytes });
  }

  test("reads a body, whatever the chunks that it comes in", async () => {
    const { request } = requestOf([0x61, 0xc3], [0xa9], [0xf0, 0x9f], [0x98, 0x80]);
    assert.equal(await readBody(request, LONGEST), "aé😀");
    assert.equal(await readBody(announced(Buffer.from("aé😀")), LONGEST), "aé😀");
  });

  test("reads no body as empty text", async () => {
    assert.equal(await readBody(new Request(URL_OF_A_CALLER), LONGEST), "");
  });

  test("refuses what is not UTF-8", async () => {
    // An octet that never occurs, a surrogate, an overlong slash, and half of a character.
    for (const bytes of [[0xff], [0xed, 0xa0, 0x80], [0xc0, 0xaf], [0x61, 0xc3]]) {
      await assert.rejects(readBody(requestOf(bytes).request, LONGEST), TypeError);
      await assert.rejects(readBody(announced(Buffer.from(bytes)), LONGEST), TypeError);
    }
  });

  test("keeps a byte order mark", async () => {
    const bytes = Buffer.from("\ufeff{}");
    assert.equal(await readBody(requestOf(bytes).request, LONGEST), "\ufeff{}");
    assert.equal(await readBody(announced(bytes), LONGEST), "\ufeff{}");
  });

  test("gives a body of just the limit, and nothing for one over it, which it lets go", async () => {
    const just = requestOf("aaa", "bb");
    assert.equal(await readBody(just.request, 5), "aaabb");
    assert.equal(just.wasCancelled(), false);
    const over = requestOf("aaa", "bbb", "ccc");
    assert.equal(await readBody(over.request, 5), undefined);
    assert.ok(over.wasCancelled());
    assert.equal(await readBody(announced(Buffer.from("aaabbb")), 5), undefined);
  });

  test("counts bytes, not characters", async () => {
    assert.equal(await readBody(requestOf("ééé").request, 5), undefined);
    assert.equal(await readBody(requestOf("ééé").request, 6), "ééé");
  });

  test("rejects when the body breaks off", async () => {
    const body = new ReadableStream({ pull: (controller) => controller.error(new Error("gone")) });
    const options = { method: "POST", body, duplex: "half" };
    const request = new Request(URL_OF_A_CALLER, /** @type {RequestInit} */ (options));
    await assert.rejects(readBody(request, LONGEST), { message: "gone" });
  });
});

describe("respond", () => {
  test("makes a response of a status, fields and a body", async () => {
    const lines = 'content-type: application/json\netag: "a: b"\nx-empty: \nno field\n';
    const response = respond(429, lines, "{}");
    assert.equal(response.status, 429);
    const fields = { "content-type": "application/json", etag: '"a: b"', "x-empty": "" };
    assert.deepEqual(Object.fromEntries(response.headers), fields);
    assert.equal(await response.text(), "{}");
  });

  test("has fields of odd values as they are", () => {
    const lines = "x-colons: a: b: c\nx-empty: \nx-latin: caf\u00e9\nno field\nx-last: 1";
    const response = respond(204, lines, null);
    const fields = { "x-colons": "a: b: c", "x-empty": "", "x-latin": "caf\u00e9", "x-last": "1" };
    assert.deepEqual(Object.fromEntries(response.headers), fields);
  });

  test("makes a response without a body", () => {
    for (const status of [204, 304]) {
      const response = respond(status, "etag: 1\n", null);
      assert.equal(response.status, status);
      assert.equal(response.body, null);
    }
  });

  test("is undone by headersOf", () => {
    const lines = 'content-type: application/json\netag: "a: b"\nx-empty: \n';
    assert.equal(headersOf(respond(200, lines, "{}")), lines);
  });
});
