import assert from "node:assert/strict";
import { test } from "node:test";
import { column } from "./columns.mjs";
import { importSource } from "./source.mjs";

const { WholeExport } = await importSource("analytics/export/whole_export.ts");

const PIECES = ['{"path":"/a"}\n{"path":"/b"}\n', '{"path":"/c"}\n', '{"path":"/d"}\n'];

/** Returns a report in pieces. Its stream fails once, before the piece at `failBefore`. */
function fakeReport(pieces, { failBefore = null } = {}) {
  const opened = [];
  let broken = failBefore;
  function open(format, resumeFrom, signal) {
    opened.push({ format, resumeFrom });
    let at = resumeFrom?.at ?? 0;
    const stream = {
      nextPosition: resumeFrom,
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
          stream.nextPosition = at === pieces.length ? null : { at };
          return { done: false, value };
        },
        cancel: async () => {},
      }),
    };
    return stream;
  }
  return { open, opened };
}

const textOf = async (wholeExport, about = {}) => new Blob(wholeExport.parts(about)).text();

test("an export reads every piece of the report once", async () => {
  const { open, opened } = fakeReport(PIECES);
  const wholeExport = new WholeExport("ndjson", open);
  assert.equal(await wholeExport.run(), true);
  assert.deepEqual([wholeExport.problem.value, wholeExport.pages.value], [null, 3]);
  assert.equal(await textOf(wholeExport), PIECES.join(""));
  assert.deepEqual(opened, [{ format: "ndjson", resumeFrom: undefined }]);
});

test("an export remembers that the totals changed between two pages", async () => {
  const { open } = fakeReport(PIECES);
  const wholeExport = new WholeExport("ndjson", (...args) =>
    Object.assign(open(...args), { isMixed: true }),
  );
  assert.equal(await wholeExport.run(), true);
  assert.equal(wholeExport.isMixed, true);
});

test("an interrupted export resumes at the failed piece and repeats nothing", async () => {
  const { open, opened } = fakeReport(PIECES, { failBefore: 2 });
  const wholeExport = new WholeExport("ndjson", open);
  assert.equal(await wholeExport.run(), false);
  assert.equal(wholeExport.problem.value.title, "We couldn’t reach the gateway");
  assert.equal(await wholeExport.run(), true);
  assert.deepEqual(opened.at(-1).resumeFrom, { at: 2 });
  assert.equal(await textOf(wholeExport), PIECES.join(""));
  assert.equal(wholeExport.problem.value, null);
});

test("an export that fails before its first piece starts from scratch", async () => {
  const { open, opened } = fakeReport(PIECES, { failBefore: 0 });
  const wholeExport = new WholeExport("csv", open);
  assert.equal(await wholeExport.run(), false);
  assert.equal(await wholeExport.run(), true);
  assert.deepEqual(column(opened, "resumeFrom"), [undefined, undefined]);
});

test("a cancelled export reports no problem", async () => {
  const { open } = fakeReport(PIECES);
  const wholeExport = new WholeExport("ndjson", open);
  const running = wholeExport.run();
  wholeExport.cancel();
  assert.equal(await running, false);
  assert.equal(wholeExport.problem.value, null);
});

test("a JSON export is one document that starts with the report", async () => {
  const wholeExport = new WholeExport("json", fakeReport(PIECES).open);
  await wholeExport.run();
  const body = JSON.parse(await textOf(wholeExport, { report: "views" }));
  assert.equal(body.report, "views");
  assert.deepEqual(column(body.rows, "path"), ["/a", "/b", "/c", "/d"]);
});

test("a JSON export without rows is a valid document", async () => {
  const wholeExport = new WholeExport("json", fakeReport([""]).open);
  await wholeExport.run();
  assert.deepEqual(JSON.parse(await textOf(wholeExport)), { rows: [] });
});
