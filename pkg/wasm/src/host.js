// The module reads JavaScript values and emits strings through these functions.

let sources = [];
let listener;

/**
 * Sets the objects that the module reads, and the function that receives its strings. Steps of tasks
 * are synchronous, so all tasks can share these variables.
 */
export function attach(objects, listen) {
  sources = objects;
  listener = listen;
}

/** The value that was read last. */
let value;

/** Reads a property of a source. Returns its type as a number; see `Argument` in `host.rs`. */
export function read(source, name) {
  value = get(sources[source], name);
  return kindOf(value);
}

/**
 * Reads the name of the own property at an index. Properties that are `undefined` do not count.
 * Returns `false` if the index is out of range or the source is not an object.
 */
export function readName(source, index) {
  const object = sources[source];
  if (typeof object !== "object" || Array.isArray(object)) return false;
  try {
    const names = Reflect.ownKeys(object);
    value = names.filter((key) => typeof key === "string" && get(object, key) !== undefined)[index];
  } catch {
    return false;
  }
  return value !== undefined;
}

/**
 * Returns an own property, so that prototype pollution cannot add options. Returns `undefined` if the
 * getter throws.
 */
function get(object, name) {
  try {
    return Object.hasOwn(object, name) ? object[name] : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the string that was read last. */
export function text() {
  return value;
}

/** Returns the number that was read last. */
export function number() {
  return value;
}

/** Passes a string to the listener. */
export function emit(kind, number, text) {
  listener(kind, number, text);
}

function kindOf(value) {
  if (value === null) return 1;
  if (Array.isArray(value)) return 6;
  if (value === true) return 5;
  return { undefined: 0, string: 2, number: 3, boolean: 4, function: 7 }[typeof value] ?? 8;
}
