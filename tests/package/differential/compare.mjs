/** Finds where two recordings of a case differ. */

/**
 * @typedef {object} Difference
 * @property {string} path where: `events[3].headers[0]`, counted in the recording of before
 * @property {unknown} before `undefined` where there is nothing
 * @property {unknown} after
 * @property {object} [eventBefore] the event that it is in
 * @property {object} [eventAfter]
 *
 * @param {import("./run.mjs").Recording} before
 * @param {import("./run.mjs").Recording} after
 * @returns {Difference[]}
 */
export function compare(before, after) {
  const { left: leftBefore } = before;
  const { left: leftAfter } = after;
  const [eventsBefore, eventsAfter] = [before, after].map(({ events }) => putOutcomesFirst(events));
  const found = [];
  if (JSON.stringify(eventsBefore) !== JSON.stringify(eventsAfter)) {
    for (const [at, one, other] of align(eventsBefore, eventsAfter)) {
      const inEvent = [];
      walk(`events[${at}]`, one, other, inEvent);
      for (const difference of inEvent) {
        found.push({ ...difference, eventBefore: one, eventAfter: other });
      }
    }
  }
  walk("left", leftBefore, leftAfter, found);
  return found;
}

/**
 * What a caller is given in one moment comes first, by the action that it belongs to: its order
 * among requests, and among other actions, is a matter of microtasks and is not compared.
 */
function putOutcomesFirst(events) {
  const rank = ({ event }) => FIRST.indexOf(event) + 1 || FIRST.length + 1;
  return [...events].sort((one, other) => {
    if (one.at !== other.at) return one.at - other.at;
    if (rank(one) !== rank(other)) return rank(one) - rank(other);
    return String(one.of ?? "").localeCompare(String(other.of ?? ""));
  });
}

const FIRST = ["request given up", "row", "result", "rejects"];

/** What makes two events the same one, however they differ. */
function identify({ event, number, of }) {
  return `${event} ${number ?? ""} ${of ?? ""}`;
}

/** Pairs events by the longest common sequence, so that one more does not shift all that follow. */
function align(before, after) {
  const [one, other] = [before.map(identify), after.map(identify)];
  const lengths = Array.from({ length: one.length + 1 }, () => new Uint16Array(other.length + 1));
  for (let i = one.length - 1; i >= 0; i--) {
    for (let j = other.length - 1; j >= 0; j--) {
      lengths[i][j] =
        one[i] === other[j]
          ? lengths[i + 1][j + 1] + 1
          : Math.max(lengths[i + 1][j], lengths[i][j + 1]);
    }
  }
  const pairs = [];
  let [i, j] = [0, 0];
  while (i < one.length || j < other.length) {
    if (i < one.length && j < other.length && one[i] === other[j]) {
      pairs.push([i, before[i++], after[j++]]);
    } else if (j === other.length || (i < one.length && lengths[i + 1][j] >= lengths[i][j + 1])) {
      pairs.push([i, before[i++], undefined]);
    } else {
      pairs.push([i, undefined, after[j++]]);
    }
  }
  return pairs;
}

function walk(path, before, after, found) {
  if (Object.is(before, after)) return;
  if (!isObject(before) || !isObject(after) || Array.isArray(before) !== Array.isArray(after)) {
    found.push({ path, before, after });
    return;
  }
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  for (const name of names) {
    const step = Array.isArray(before) ? `[${name}]` : `.${name}`;
    walk(path + step, before[name], after[name], found);
  }
  const [one, other] = [Object.keys(before), Object.keys(after)];
  const isSameSet = one.length === other.length && one.length === names.size;
  if (isSameSet && one.join() !== other.join()) {
    found.push({ path: `${path} (order of members)`, before: one, after: other });
  }
}

function isObject(value) {
  return typeof value === "object" && value !== null;
}

/** Both recordings around the first difference, and the case in full. */
export function explain(subject, { before, after, differences, command }) {
  const [first] = differences;
  const at = Number(/^events\[(\d+)\]/.exec(first?.path ?? "")?.[1] ?? before.events.length);
  return [
    `case ${subject.number} differs; to run it alone: ${command}`,
    "",
    "the case, made as small as the difference allows:",
    JSON.stringify(subject, undefined, 2),
    "",
    `${differences.length} differences that nobody has declared, the first at ${first.path}:`,
    `  before: ${show(first.before)}`,
    `  after:  ${show(first.after)}`,
    ...differences.slice(1, 8).map(({ path, ...values }) => {
      return `  also ${path}: ${show(values.before)} → ${show(values.after)}`;
    }),
    "",
    "what happened, before and after (* where the events are not equal):",
    ...listSideBySide(before.events, after.events, at),
    `  left behind before: ${JSON.stringify(before.left)}`,
    `  left behind after:  ${JSON.stringify(after.left)}`,
  ].join("\n");
}

function listSideBySide(before, after, at) {
  return align(before, after)
    .filter(([index]) => index >= at - 6 && index <= at + 6)
    .flatMap(([index, one, other]) => {
      if (JSON.stringify(one) === JSON.stringify(other)) return [`    ${index} ${show(one, 400)}`];
      return [`  * ${index} before ${show(one, 1500)}`, `    ${index} after  ${show(other, 1500)}`];
    });
}

function show(value, most = 600) {
  if (value === undefined) return "nothing";
  const text = JSON.stringify(value);
  return text.length > most ? `${text.slice(0, most)}… (${text.length} characters)` : text;
}
