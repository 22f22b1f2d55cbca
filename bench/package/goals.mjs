/** What the package is to reach, and whether it does. */

import { CALLS } from "./calls.mjs";
import { DECODING } from "./cases.mjs";
import { compare } from "./timing.mjs";

const MAX_CALL = { host: 1.6, custom: 1.9 };
const MAX_DECODING = 1.15;
/** Clients that a whole call is to be quicker than. */
const SLOWER = { "ky + zod": CALLS.ky, "openai's runtime": CALLS.openai };

/** Whose `fetch` sends a call, in words. */
export const WAYS = { host: "the host's `fetch`", custom: "a custom `fetch`" };

/**
 * @param {import("./measure.mjs").Measured} measured
 * @returns {{ what: string, most: number, ratio: number, error: number, isReached: boolean,
 *   isClose: boolean }[]}
 */
export function judge({ calls, decoding }) {
  const goals = Object.entries(decoding).map(([host, { times }]) =>
    judgeRatio(
      `JSON.parse and the decoder in ${host}: at most ${MAX_DECODING.toFixed(2)} × JSON.parse`,
      MAX_DECODING,
      compare(times, DECODING.own, DECODING.parse),
    ),
  );
  for (const [way, { times }] of Object.entries(calls)) {
    const most = MAX_CALL[way];
    const what = `a whole call with ${WAYS[way]}`;
    const bare = compare(times, CALLS.own, CALLS.bare);
    goals.push(judgeRatio(`${what}: at most ${most.toFixed(2)} × fetch + json()`, most, bare));
    for (const [name, client] of Object.entries(SLOWER)) {
      const ratio = compare(times, CALLS.own, client);
      goals.push(judgeRatio(`${what}: at most 1.00 × ${name}`, 1, ratio));
    }
  }
  return goals;
}

/** A ratio is judged as it is printed, with two decimals. */
function judgeRatio(what, most, { ratio, error }) {
  const printed = Number(ratio.toFixed(2));
  const isClose = Math.abs(printed - most) <= error;
  return { what, most, ratio, error, isReached: printed <= most, isClose };
}
