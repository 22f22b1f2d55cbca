/** The package's goals, and whether they are reached. */

import { CALLS } from "./calls.mjs";
import { DECODING } from "./cases.mjs";
import { compare } from "./timing.mjs";

const MAX_CALL = { host: 1.6, custom: 1.9 };
const MAX_DECODING = 1.15;
/** Clients whose whole call must not be faster. */
const SLOWER = { "ky + zod": CALLS.ky, "openai's runtime": CALLS.openai };

/** Descriptions of the `fetch` that sends a call. */
export const WAYS = { host: "the host's `fetch`", custom: "a custom `fetch`" };

export function judge({ calls, decoding }) {
  const goals = Object.entries(decoding).map(([host, { times }]) =>
    judgeRatio(
      `JSON.parse and the decoder in ${host}: at most ${MAX_DECODING.toFixed(2)} × JSON.parse`,
      MAX_DECODING,
      compare(times, DECODING.own, DECODING.parse),
    ),
  );
  for (const [way, { times }] of Object.entries(calls)) {
    const max = MAX_CALL[way];
    const what = `a whole call with ${WAYS[way]}`;
    const bare = compare(times, CALLS.own, CALLS.bare);
    goals.push(judgeRatio(`${what}: at most ${max.toFixed(2)} × fetch + json()`, max, bare));
    for (const [name, client] of Object.entries(SLOWER)) {
      const ratio = compare(times, CALLS.own, client);
      goals.push(judgeRatio(`${what}: at most 1.00 × ${name}`, 1, ratio));
    }
  }
  return goals;
}

/** Judges a ratio rounded to the two decimals that the report prints. */
function judgeRatio(what, max, { ratio, error }) {
  const printed = Number(ratio.toFixed(2));
  const isClose = Math.abs(printed - max) <= error;
  return { what, ratio, error, isReached: printed <= max, isClose };
}
