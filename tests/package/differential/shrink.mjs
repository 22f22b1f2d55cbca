/** Makes a case smaller as long as something about it holds. */

/**
 * A part may be missing that the virtual server cannot do without: such a case is none.
 *
 * @param {() => Promise<boolean>} holds
 */
async function holdsAtAll(holds) {
  try {
    return await holds();
  } catch {
    return false;
  }
}

/** How many smaller cases are tried. */
const MOST_TRIES = 400;
/** What no case can do without. */
const NEEDED = new Set([
  "number",
  "seed",
  "start",
  "client",
  "actions",
  "answers",
  "do",
  "$",
  "after",
]);

/**
 * @template {object} T
 * @param {T} subject JSON
 * @param {(smaller: T) => Promise<boolean>} holds
 * @returns {Promise<T>}
 */
export async function shrink(subject, holds) {
  let smallest = subject;
  let tries = 0;
  for (let goesOn = true; goesOn; ) {
    goesOn = false;
    for (const path of pathsOf(smallest)) {
      if (++tries > MOST_TRIES) return smallest;
      const smaller = without(smallest, path);
      if (smaller === undefined || !(await holdsAtAll(() => holds(smaller)))) continue;
      smallest = smaller;
      goesOn = true;
      break;
    }
  }
  return smallest;
}

/** Every member and element, the outer ones first, since they take the most away. */
function pathsOf(value) {
  const paths = [];
  const waiting = [[value, []]];
  for (const [at, path] of waiting) {
    if (typeof at !== "object" || at === null) continue;
    for (const name of Object.keys(at)) {
      const inner = [...path, name];
      if (Array.isArray(at) || !NEEDED.has(name)) paths.push(inner);
      waiting.push([at[name], inner]);
    }
  }
  return paths;
}

function without(value, path) {
  const copy = structuredClone(value);
  const last = path[path.length - 1];
  const holder = path.slice(0, -1).reduce((at, name) => at[name], copy);
  if (!Array.isArray(holder)) {
    delete holder[last];
    return copy;
  }
  // There is always an action and an answer.
  const isList = ["actions", "answers", "streams"].includes(path[path.length - 2]);
  if (isList && holder.length === 1) return undefined;
  holder.splice(Number(last), 1);
  return copy;
}
