/**
 * What the package does otherwise than before, on purpose. Each entry excuses the differences that
 * it `matches` and no others; one that excuses nothing any more fails the test.
 *
 * @typedef {object} ExpectedDifference
 * @property {string} id
 * @property {string} why it is intended, in a sentence
 * @property {(difference: import("./compare.mjs").Difference, subject: import("./run.mjs").Case) => boolean} matches
 *
 * @type {ExpectedDifference[]}
 */
export const EXPECTED = [];
