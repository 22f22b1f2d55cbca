/** Exports of lists as CSV and NDJSON. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { inspect } from "node:util";
import { Random } from "../harness/random.mjs";
import { against, quillgate } from "./behaviour/fixtures.mjs";
import {
  EXPECTED,
  FORMATS,
  LISTS,
  makeRows,
  NAMES,
  pageOf,
  read,
  SEED,
} from "./exported_lists.mjs";
import { ROWS } from "./scripted_lists.mjs";
import { queryOf } from "./scripted_server.mjs";

for (const name of NAMES) {
  const list = LISTS[name];

  describe(`Exports of ${name}`, () => {
    for (const format of FORMATS) {
      test(`an export of ${name} has every row as ${format}, whatever its content and its JSON spelling`, () => {
        const random = new Random(SEED);
        const rows = makeRows(random, list);
        return against(pageOf(list, rows, random), async (client, { requests }) => {
          const stream = list.list(client).export({ format });
          assert.ok(stream instanceof ReadableStream);
          assert.equal(await read(stream), EXPECTED[format](rows, list));
          assert.equal(stream.nextPosition, null);
          assert.equal(requests.length, Math.ceil(ROWS / list.maxRows));
        });
      });

      test(`an export of ${name} as ${format} that resumes after random failures is complete`, () => {
        const random = new Random(SEED + 1);
        const rows = makeRows(random, list);
        const page = pageOf(list, rows, random);
        let breaks = 0;
        const respond = (received) => {
          if (breaks >= 10 || random.chance(0.4)) return page(received);
          breaks++;
          return random.pick([
            () => ({ status: 429, headers: { "retry-after": "1800" } }),
            () => ({ status: 503 }),
            () => ({ ...page(received), cut: true }),
            () => ({ text: '{"views":' }),
          ]);
        };
        return against(
          respond,
          async (client, { requests }) => {
            let text = "";
            let position;
            let failures = 0;
            while (position !== null) {
              const made = list.list(client, { limit: 60 });
              const stream = made.export({ format, resumeFrom: position && JSON.parse(position) });
              try {
                for await (const chunk of stream) text += Buffer.from(chunk).toString("utf8");
              } catch (error) {
                assert.ok(quillgate.isQuillgateError(error), inspect(error));
                failures++;
              }
              position = stream.nextPosition && JSON.stringify(stream.nextPosition);
            }
            assert.equal(text, EXPECTED[format](rows, list));
            assert.deepEqual([failures, breaks], [10, 10]);
            assert.equal(requests.length, Math.ceil(ROWS / 60) + breaks);
            const ends = requests.slice(-5).map((received) => queryOf(received).get("dateTo"));
            assert.equal(new Set(ends).size, 1, "resuming changed the end of an open range");
          },
          { maxRetries: 0 },
        );
      });
    }

    test(`an export of ${name} without rows is the CSV header, or empty NDJSON`, () =>
      against(pageOf(list, [], new Random(SEED)), async (client) => {
        const header = EXPECTED.csv([], list);
        assert.equal(await read(list.list(client).export({ format: "csv" })), header);
        assert.equal(await read(list.list(client).export({ format: "ndjson" })), "");
      }));
  });
}

test("an export as CSV has a byte order mark, CRLF line ends, RFC 4180 quotes and no formulas", () => {
  const paths = {
    "/guides/start": "/guides/start",
    "=1+2": "'=1+2",
    '=HYPERLINK("http://x.example","y")': `"'=HYPERLINK(""http://x.example"",""y"")"`,
    "+49": "'+49",
    "-2+3": "'-2+3",
    "@SUM(1)": "'@SUM(1)",
    "\t=1": "'\t=1",
    "\r=1": `"'\r'=1"`,
    "\n=1": `"'\n'=1"`,
    "＝1": "'＝1",
    "＋1": "'＋1",
    "－1": "'－1",
    "＠x": "'＠x",
    "/x;=1+1;": `"/x;'=1+1;"`,
    'a;"\t@b': `"a;""\t'@b"`,
    "a\n- b;-c": `"a\n'- b;'-c"`,
    "'=1": "'=1",
    " =1": " =1",
    "a,b": '"a,b"',
    "a;b": '"a;b"',
    'say "x"': '"say ""x"""',
    "two\nlines": '"two\nlines"',
    "é/ü/😀": "é/ü/😀",
    "": "",
  };
  const counts = { human: 1, ai: null, total: 2 ** 53 - 1 };
  const views = Object.keys(paths).map((path) => ({ path, ...counts }));
  return against({ json: { totals: {}, views, hasMore: false } }, async ({ analytics }) => {
    const csv = new Response(analytics.views().export({ format: "csv" }));
    const bytes = new Uint8Array(await csv.arrayBuffer());
    const lines = Object.values(paths).map((cell) => `${cell},1,,9007199254740991\r\n`);
    const expected = `\uFEFFpath,human,ai,total\r\n${lines.join("")}`;
    assert.deepEqual(bytes, new TextEncoder().encode(expected));
  });
});

test("an export uses the last of duplicate properties, as JSON.parse does", () => {
  const row = '{"path":"a","path":"b","a":{"path":"c"}}';
  const text = `{"totals":{},"views":[],"hasMore":false,"views":[${row}]}`;
  return against({ text }, async ({ analytics }) => {
    const csv = await read(analytics.views().export({ format: "csv" }));
    assert.equal(csv.split("\r\n")[1], "b,,,");
  });
});

test("an unpaired surrogate becomes U+FFFD in CSV and stays escaped in NDJSON", () => {
  const row = String.raw`{"path":"\ud83d"}`;
  const text = `{"totals":{},"views":[${row}],"hasMore":false}`;
  return against({ text }, async ({ analytics }) => {
    const exports = FORMATS.map((format) => read(analytics.views().export({ format })));
    const [csv, ndjson] = await Promise.all(exports);
    assert.equal(csv.split("\r\n")[1], "\uFFFD,,,");
    assert.equal(ndjson, `${row}\n`);
  });
});
