/** Values as plain JSON, with everything that a caller could tell them apart by. */

/**
 * Describes values of one package.
 *
 * @param {Record<string, unknown>} exports of the package
 * @param {string} caller the file whose lines count as the caller's
 */
export class Snapshots {
  #classes;
  #isOwn;
  #caller;
  #labels = new Map();

  constructor(exports, caller) {
    this.#classes = Object.entries(exports).filter(([, value]) => isErrorClass(value));
    this.#isOwn = exports.isQuillgateError;
    this.#caller = caller;
  }

  /** Names a value, so that the record shows whether it is that very one. */
  label(value, name) {
    if (!this.#labels.has(value)) this.#labels.set(value, name);
  }

  /** @returns {unknown} JSON */
  take(value, depth = 0) {
    switch (typeof value) {
      case "string":
      case "boolean":
        return value;
      case "number":
        return Number.isFinite(value) && !Object.is(value, -0) ? value : { number: String(value) };
      case "undefined":
        return { undefined: true };
      case "object":
        return value === null ? null : this.#object(value, depth);
      default:
        return { [typeof value]: String(value) };
    }
  }

  #object(value, depth) {
    const name = this.#labels.get(value);
    const is = name === undefined ? {} : { is: name };
    if (depth > 12) return { ...is, deep: true };
    const next = depth + 1;
    if (value instanceof Error) return { ...is, ...this.#error(value, next) };
    if (value instanceof Headers) return { ...is, Headers: [...value] };
    if (value instanceof Response) return { ...is, ...this.#response(value) };
    if (value instanceof AbortSignal) return { ...is, AbortSignal: value.aborted };
    if (Array.isArray(value) && name === undefined)
      return value.map((item) => this.take(item, next));
    return { ...is, ...this.#kindOf(value), ...this.#members(value, next) };
  }

  #kindOf(value) {
    const prototype = Object.getPrototypeOf(value);
    if (prototype === Object.prototype) return {};
    return { prototype: prototype?.constructor?.name ?? "none" };
  }

  /** Own members in their order; how one is declared is said where it is not as usual. */
  #members(value, depth, without = []) {
    const members = {};
    for (const key of Reflect.ownKeys(value)) {
      if (without.includes(key)) continue;
      const { enumerable, writable, get } = Object.getOwnPropertyDescriptor(value, key);
      const flags = [!enumerable && "hidden", get && "getter", !get && !writable && "read-only"];
      const shown = flags.filter(Boolean).join(" ");
      const member = get ? "not read" : this.take(value[key], depth);
      Object.defineProperty(members, shown === "" ? String(key) : `${String(key)} (${shown})`, {
        value: member,
        enumerable: true,
      });
    }
    return members;
  }

  #error(error, depth) {
    const classes = this.#classes.filter(([, type]) => error instanceof type).map(([name]) => name);
    const isOwn = this.#isOwn(error);
    return {
      error: error.name,
      message: error.message,
      classes,
      ...(isOwn ? { stack: this.#stackOf(error) } : {}),
      ...this.#members(error, depth, ["stack", "message"]),
    };
  }

  /** Whether a stack begins with the error, and whose line is its first. */
  #stackOf({ name, message, stack }) {
    const begins = stack?.startsWith(`${name}: ${message}`);
    const first = /\n {4}at (.*)/.exec(stack?.slice(`${name}: ${message}`.length) ?? "")?.[1] ?? "";
    let whose = first === "" ? "nobody" : "another";
    if (first.includes(this.#caller)) whose = "the caller";
    else if (first.includes("/node_modules/quillgate/")) whose = "the package";
    return `${begins ? "" : "does not begin with the error; "}first line: ${whose}`;
  }

  #response(response) {
    const { status, url, bodyUsed, headers } = response;
    return { Response: status, url, bodyUsed, headers: [...headers] };
  }
}

function isErrorClass(value) {
  return typeof value === "function" && value.prototype instanceof Error;
}
