import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { standInForStorage, standInForWindow } from "./browser_stand_ins.mjs";
import { importSource } from "./source.mjs";

standInForStorage();
standInForWindow();
const { cutText } = await importSource("shell/readable_text.ts");
const { titleOf } = await importSource("jobs/job_state.ts");
const { parseJobsAddress } = await importSource("jobs/jobs_address.ts");
const { Segmenter } = Intl;

const GRAPHEMES = ["😀", "👨‍👩‍👧‍👦", "👍🏽", "🇩🇪", "e\u0301", "1️⃣", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "\r\n", "🏳️‍🌈"];

for (const segmenter of [Segmenter, undefined]) {
  describe(segmenter ? "with Intl.Segmenter" : "without Intl.Segmenter", () => {
    const cut = (text, max) => {
      Intl.Segmenter = segmenter;
      try {
        return cutText(text, max);
      } finally {
        Intl.Segmenter = Segmenter;
      }
    };

    test("a cut never divides a grapheme", () => {
      for (const grapheme of GRAPHEMES) {
        const text = `ab${grapheme}${grapheme}c`;
        const ends = [0, 1, 2, 2 + grapheme.length, 2 + 2 * grapheme.length, text.length];
        for (let max = 0; max <= text.length; max++) {
          const expected = text.slice(
            0,
            ends.findLast((end) => end <= max),
          );
          assert.equal(cut(text, max), expected, `${JSON.stringify(grapheme)} at ${max}`);
        }
      }
    });

    test("a very long stack of marks is cut, but not within a character", () => {
      const text = `x${"e\u0301".repeat(1)}${"\u{1d165}".repeat(100)}`;
      const start = cut(text, 150);
      assert.ok(start.length >= 149, `${start.length}`);
      assert.ok(start.isWellFormed?.() ?? true);
    });
  });
}

test("titles and searches are cut between graphemes", () => {
  const family = "👨‍👩‍👧‍👦";
  assert.equal(titleOf(`${"x".repeat(95)}${family} and more`), `${"x".repeat(95)}…`);
  const query = new URLSearchParams({ text: `${"x".repeat(195)}${family}` });
  assert.equal(parseJobsAddress(query).text, "x".repeat(195));
});
