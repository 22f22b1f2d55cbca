/** Times functions in alternation. Runs in Node and in browsers. */

import { estimateError, median } from "../gateway/statistics.mjs";

/** Number of warm-up rounds, which do not count. */
const WARM_UP = 20;

/**
 * Times functions in alternating rounds, so that a disturbance of the machine affects all of them.
 * Odd rounds are in reversed order. `turn` waits for the event loop after each run, as a network
 * would. Work that a run defers, including garbage collection, then counts. The time of an empty
 * turn is measured in each round and subtracted.
 */
export async function alternate(cases, { rounds = 60, runs = 40, turn } = {}) {
  const names = Object.keys(cases);
  const times = Object.fromEntries(names.map((name) => [name, []]));
  const turns = [];
  for (let round = -WARM_UP; round < rounds; round++) {
    const empty = turn ? await time(() => {}, runs, turn) : 0;
    const measured = {};
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      measured[name] = (await time(cases[name], runs, turn)) - empty;
    }
    if (round < 0) continue;
    turns.push(empty);
    for (const name of names) times[name].push(measured[name]);
  }
  return { times, turns };
}

async function time(run, runs, turn) {
  const started = performance.now();
  for (let at = 0; at < runs; at++) {
    await run();
    if (turn) await turn();
  }
  return ((performance.now() - started) * 1000) / runs;
}

/** Returns the median and the error of the ratios of two cases' times. */
export function compare(times, name, other) {
  const ratios = times[name].map((time, round) => time / times[other][round]);
  return { ratio: median(ratios), error: estimateError(ratios) };
}
