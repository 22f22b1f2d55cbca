import assert from "node:assert/strict";
import { test } from "node:test";
import { importSource } from "./source.mjs";

const { WholeExport } = await importSource("analytics/whole_export.ts");

const PIECES = ['{"path":"/a"}\n{"path":"/b"}\n', '{"path":"/c"}\n', '{"path":"/d"}\n'];

/** A report in pieces, whose stream fails once before one of them. */
function fakeReport(pieces, { failBefore = null } = {}) {
  const opened = [];
  let broken = failBefore;
  function open(format, cursor, signal) {
    opened.push({ format, cursor });
    let at = cursor?.at ?? 0;
    const stream = {
      cursor,
      getReader: () => ({
        async read() {
          signal.throwIfAborted();
          if (at === broken) {
            broken = null;
            throw Object.assign(new TypeError("failed to fetch"), { name: "ConnectionError" });
          }
          if (at === pieces.length) return { done: true };
          const value = new TextEncoder().encode(pieces[at]);
          at += 1;
          stream.cursor = at === pieces.length ? null : { at };
          return { done: false, value };
        },
        cancel: async () => {},
      }),
    };
    return stream;
  }
  return { open, opened };
}

const textOf = async (work, about = {}) => new Blob(work.parts(about)).text();

test("everything is read, a piece at a time", async () => {
  const { open, opened } = fakeReport(PIECES);
  const work = new WholeExport("ndjson", open);
  assert.equal(await work.run(), true);
  assert.deepEqual([work.state.value, work.pages.value], ["done", 3]);
  assert.equal(await textOf(work), PIECES.join(""));
  assert.deepEqual(opened, [{ format: "ndjson", cursor: undefined }]);
});

test("what fails on its way goes on from there, with nothing twice", async () => {
  const { open, opened } = fakeReport(PIECES, { failBefore: 2 });
  const work = new WholeExport("ndjson", open);
  assert.equal(await work.run(), false);
  assert.equal(work.state.value, "interrupted");
  assert.equal(work.problem.value.title, "The gateway could not be reached");
  assert.equal(await work.run(), true);
  assert.deepEqual(opened.at(-1).cursor, { at: 2 });
  assert.equal(await textOf(work), PIECES.join(""));
  assert.equal(work.problem.value, null);
});

test("what fails at its beginning begins again", async () => {
  const { open, opened } = fakeReport(PIECES, { failBefore: 0 });
  const work = new WholeExport("csv", open);
  assert.equal(await work.run(), false);
  assert.equal(await work.run(), true);
  assert.deepEqual(
    opened.map(({ cursor }) => cursor),
    [undefined, undefined],
  );
});

test("cancelling forgets what was read, and is no problem", async () => {
  const { open } = fakeReport(PIECES);
  const work = new WholeExport("ndjson", open);
  const running = work.run();
  work.cancel();
  assert.equal(await running, false);
  assert.deepEqual([work.state.value, work.problem.value], ["cancelled", null]);
});

test("JSON is one document, with what it is of at its head", async () => {
  const work = new WholeExport("json", fakeReport(PIECES).open);
  await work.run();
  const body = JSON.parse(await textOf(work, { report: "views" }));
  assert.equal(body.report, "views");
  assert.deepEqual(
    body.rows.map(({ path }) => path),
    ["/a", "/b", "/c", "/d"],
  );
});

test("JSON of no rows at all is a document too", async () => {
  const work = new WholeExport("json", fakeReport([""]).open);
  await work.run();
  assert.deepEqual(JSON.parse(await textOf(work)), { rows: [] });
});
