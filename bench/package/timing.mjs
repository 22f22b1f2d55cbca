/** Times functions beside each other. Runs in Node and in browsers. */

import { estimateError, median } from "../gateway/statistics.mjs";

/** Rounds that do not count. */
const WARM_UP = 20;

/**
 * Times functions in alternating rounds, so that a noisy machine disturbs all alike; odd rounds are
 * in reversed order.
 *
 * After each run there may be a turn of the event loop, as a network gives one: what a run puts off
 * until then, the collection of its garbage too, is a part of its time. What the turns themselves take
 * is timed in the same round and taken off.
 *
 * @param {Record<string, () => unknown>} cases
 * @param {object} [options]
 * @param {number} [options.rounds]
 * @param {number} [options.runs] of each case in a round
 * @param {() => Promise<void>} [options.turn]
 *
 * @typedef {object} Timed
 * @property {Record<string, number[]>} times microseconds a run, in each round
 * @property {number[]} turns microseconds a turn, in each round
 * @returns {Promise<Timed>}
 */
export async function alternate(cases, { rounds = 60, runs = 40, turn } = {}) {
  const names = Object.keys(cases);
  const times = Object.fromEntries(names.map((name) => [name, []]));
  const turns = [];
  for (let round = -WARM_UP; round < rounds; round++) {
    const taken = turn ? await time(() => {}, runs, turn) : 0;
    const measured = {};
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      measured[name] = (await time(cases[name], runs, turn)) - taken;
    }
    if (round < 0) continue;
    turns.push(taken);
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

/** How often as long as another a case takes: the median over the rounds, and how exact it is. */
export function compare(times, name, other) {
  const ratios = times[name].map((time, round) => time / times[other][round]);
  return { ratio: median(ratios), error: estimateError(ratios) };
}
