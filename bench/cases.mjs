/** What is timed: the ways from a page's JSON text to checked rows, and whole calls. */

import * as z from "zod";
import { decode } from "../src/wasm/decode.js";

const count = z.int().nonnegative().nullish();
const PAGE = z.object({
  totals: z.object({ human: count, ai: count, total: count }),
  views: z.array(z.object({ path: z.string().nullish(), human: count, ai: count, total: count })),
  hasMore: z.boolean(),
});

/** From text to checked rows, by name; the first is what the others are compared with. */
const DECODERS = {
  "JSON.parse alone": (text) => JSON.parse(text),
  "JSON.parse + quillgate's decoder": (text) => decode("PageViews", JSON.parse(text)),
  "JSON.parse + zod 4": (text) => PAGE.parse(JSON.parse(text)),
};

/** The schema, for calls that check with it. */
export const parsePage = (value) => PAGE.parse(value);

/**
 * Times functions in alternating rounds, so that a noisy machine disturbs all alike.
 *
 * @param {Record<string, () => unknown>} cases
 * @returns {Promise<Record<string, { median: number, ratio: number }>>} microseconds a run,
 *   and the median over the rounds of the ratio to the first case
 */
export async function alternate(cases, { rounds = 60, runs = 40 } = {}) {
  const names = Object.keys(cases);
  const times = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = -5; round < rounds; round++) {
    for (const name of names) {
      const started = performance.now();
      for (let run = 0; run < runs; run++) await cases[name]();
      if (round >= 0) times[name].push(((performance.now() - started) * 1000) / runs);
    }
  }
  const [first] = names;
  return Object.fromEntries(
    names.map((name) => [
      name,
      {
        median: median(times[name]),
        ratio: median(times[name].map((time, round) => time / times[first][round])),
      },
    ]),
  );
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1];
}

/** Times the decoders on a page. */
export function timeDecoders(text, options) {
  const bound = Object.entries(DECODERS).map(([name, decoder]) => [name, () => decoder(text)]);
  return alternate(Object.fromEntries(bound), options);
}
