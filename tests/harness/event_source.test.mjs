import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, test } from "node:test";
import { EventStreamParser, openEventStream } from "./event_source.mjs";

/** All that a stream says, when its bytes come in pieces of this size. */
function parse(text, size = Number.POSITIVE_INFINITY) {
  const found = { events: [], comments: [], retries: [] };
  const parser = new EventStreamParser({
    event: ({ type, data, lastEventId }) => found.events.push([type, data, lastEventId]),
    comment: (comment) => found.comments.push(comment),
    retry: (ms) => found.retries.push(ms),
  });
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) parser.push(bytes.subarray(at, at + size));
  return { ...found, lastEventId: parser.lastEventId };
}

const events = (text) => parse(text).events;

for (const [name, end] of [
  ["LF", "\n"],
  ["CR", "\r"],
  ["CRLF", "\r\n"],
]) {
  test(`lines may end in ${name}, and bytes may come in pieces of any size`, () => {
    const text = ["id: 1", "event: job", "data: {", "data: ä 😀}", "", ": hb", "data:2", "", ""];
    for (const size of [1, 2, 3, Number.POSITIVE_INFINITY]) {
      const found = parse(text.join(end), size);
      assert.deepEqual(found.events, [
        ["job", "{\nä 😀}", "1"],
        ["message", "2", "1"],
      ]);
      assert.deepEqual(found.comments, [" hb"]);
    }
  });
}

test("one space after the colon does not count, further ones do", () => {
  assert.deepEqual(events("data:a\n\ndata: a\n\ndata:  a\n\n"), [
    ["message", "a", ""],
    ["message", "a", ""],
    ["message", " a", ""],
  ]);
});

test("data may be empty, several empty lines are kept, none is no event", () => {
  assert.deepEqual(events("data\n\n"), [["message", "", ""]]);
  assert.deepEqual(events("data\ndata\n\n"), [["message", "\n", ""]]);
  assert.deepEqual(events("event: job\nid: 1\n\n"), []);
});

test("an event's type does not outlast it, its id does", () => {
  assert.deepEqual(events("event: a\nid: 1\ndata: x\n\ndata: y\n\nid\ndata: z\n\n"), [
    ["a", "x", "1"],
    ["message", "y", "1"],
    ["message", "z", ""],
  ]);
  assert.deepEqual(events("event: a\n\ndata: y\n\n"), [["message", "y", ""]]);
});

test("an id counts once its event is complete, even without data", () => {
  assert.equal(parse("id: 7\n").lastEventId, "");
  assert.equal(parse("id: 7\n\n").lastEventId, "7");
});

test("an id with NUL, a retry that is no number and unknown fields are ignored", () => {
  const found = parse(
    "id: 1\nid: a\0b\nretry: 3000\nretry: 1.5\nretry\nDATA: x\nelse: y\ndata: z\n\n",
  );
  assert.deepEqual(found.events, [["message", "z", "1"]]);
  assert.deepEqual(found.retries, [3000]);
});

test("a leading byte order mark is skipped, an unfinished event is dropped", () => {
  assert.deepEqual(events("\uFEFFdata: a\n\ndata: b\n"), [["message", "a", ""]]);
});

const seen = [];
const server = createServer((request, response) => {
  seen.push(request);
  const routes = {
    "/live": () => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("retry: 3000\n\nid: 1\nevent: job\ndata: one\n\n: hb\n\n");
    },
    "/clean": () => response.end("data: last\n\n"),
    "/cut": () => {
      response.write("data: one\n\ndata: tw");
      response.socket.end();
    },
    "/nothing": () => response.writeHead(204).end(),
    "/problem": () => response.writeHead(429, { "retry-after": "7" }).end('{"status":429}'),
    "/refuse": () => response.destroy(),
  };
  routes[request.url]();
}).listen(0, "127.0.0.1");
await once(server, "listening");
after(() => {
  server.closeAllConnections();
  server.close();
});

const open = (path, options) =>
  openEventStream(`http://127.0.0.1:${server.address().port}${path}`, options);

test("shows status, headers, events, comments and retry as they come", async () => {
  const stream = open("/live", { headers: { authorization: "Bearer x" }, lastEventId: "5" });
  const event = await stream.event(({ type }) => type === "job");
  assert.deepEqual([event.data, event.lastEventId, stream.lastEventId], ["one", "1", "1"]);
  assert.deepEqual([stream.status, stream.retry], [200, 3000]);
  assert.equal(stream.headers["content-type"], "text/event-stream");
  await stream.until(({ comments }) => comments.length === 1);
  assert.equal(stream.comments[0].text, " hb");
  assert.ok(stream.comments[0].at >= event.at);

  const { headers } = seen.at(-1);
  assert.equal(headers.accept, "text/event-stream");
  assert.deepEqual([headers.authorization, headers["last-event-id"]], ["Bearer x", "5"]);
  stream.leave();
  assert.equal(await stream.ended, "left");
});

test("tells a clean end from a cut one", async () => {
  const clean = open("/clean");
  assert.equal(await clean.ended, "clean");
  assert.equal(clean.events[0].data, "last");
  const cut = open("/cut");
  assert.equal(await cut.ended, "cut");
  assert.deepEqual(
    cut.events.map(({ data }) => data),
    ["one"],
  );
});

test("shows an answer that is no stream", async () => {
  const nothing = await open("/nothing").opened;
  assert.deepEqual([nothing.status, await nothing.ended], [204, "clean"]);
  const problem = open("/problem");
  assert.equal(await problem.ended, "clean");
  assert.deepEqual([problem.status, problem.headers["retry-after"]], [429, "7"]);
  assert.equal(problem.text, '{"status":429}');
});

test("a connection without an answer has failed", async () => {
  const stream = open("/refuse");
  await assert.rejects(stream.opened);
  assert.equal(await stream.ended, "failed");
});

test("waiting ends with the stream or with the time", async () => {
  await assert.rejects(
    open("/clean").event(({ data }) => data === "no"),
    /over before \(clean\)/,
  );
  const stream = open("/live");
  await assert.rejects(
    stream.event(() => false, 50),
    /nothing within 50 ms.*data: one/s,
  );
  stream.leave();
  await assert.rejects(
    stream.event(({ data }) => data === "two"),
    /over before \(left\)/,
  );
});

test("the server sees at once that a client has left", async () => {
  const stream = open("/live");
  await stream.event();
  const gone = once(seen.at(-1).socket, "close");
  stream.leave();
  await gone;
});

test("two hundred streams are open at once", async () => {
  const streams = Array.from({ length: 200 }, () => open("/live"));
  await Promise.all(streams.map((stream) => stream.event()));
  assert.ok(streams.every(({ isOver }) => !isOver));
  for (const stream of streams) stream.leave();
});
