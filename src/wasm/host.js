// What the wasm reads and hands over, while it is called: strings and numbers only.

let sources = [];
let listener;

/**
 * Says which objects the wasm reads, by their numbers, and who takes its texts. A task is stepped
 * from its beginning to its end without anything in between, so one of each is enough.
 */
export function attach(objects, listen) {
  sources = objects;
  listener = listen;
}

/** What was read last. */
let value;

/**
 * Reads a member of a source, and gives its type by number (`Kind` in `host.rs`). One that cannot
 * be read is not there.
 */
export function read(source, name) {
  value = get(sources[source], name);
  return kindOf(value);
}

/**
 * Reads the name of a source's own member that is not `undefined`, by its place among those;
 * `false` when there are fewer.
 */
export function readName(source, at) {
  const object = sources[source];
  if (typeof object !== "object" || Array.isArray(object)) return false;
  try {
    const names = Reflect.ownKeys(object);
    value = names.filter((key) => typeof key === "string" && get(object, key) !== undefined)[at];
  } catch {
    return false;
  }
  return value !== undefined;
}

/** Returns an own property, so that a polluted prototype adds no option and no parameter. */
function get(object, name) {
  try {
    return Object.hasOwn(object, name) ? object[name] : undefined;
  } catch {
    return undefined;
  }
}

/** The text that was read last. */
export function text() {
  return value;
}

/** The number that was read last. */
export function number() {
  return value;
}

/** Hands over a text. */
export function say(kind, number, text) {
  listener(kind, number, text);
}

function kindOf(value) {
  if (value === null) return 1;
  if (Array.isArray(value)) return 6;
  if (value === true) return 5;
  return { undefined: 0, string: 2, number: 3, boolean: 4, function: 7 }[typeof value] ?? 8;
}
