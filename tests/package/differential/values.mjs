/**
 * Values that JSON has no word for, as `{ $: kind, … }`. A case holds nothing but JSON, so that it
 * can be printed; every run of it makes its own values of that.
 */

/**
 * Makes the value that a description stands for.
 *
 * @param {unknown} described
 * @param {{ record: (event: object) => void, signal: (described: object) => unknown,
 *   fetch: (described: object) => unknown }} host what values can call
 */
export function makeValue(described, host) {
  if (Array.isArray(described)) return described.map((item) => makeValue(item, host));
  if (typeof described !== "object" || described === null) return described;
  if (typeof described.$ === "string") return KINDS[described.$](described, host);
  return makeMembers(described, host);
}

function makeMembers(described, host, target = {}) {
  for (const [name, value] of Object.entries(described ?? {})) {
    Object.defineProperty(target, name, {
      value: makeValue(value, host),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return target;
}

function throwAlways(message) {
  return () => {
    throw new RangeError(message);
  };
}

const KINDS = {
  undefined: () => undefined,
  nan: () => Number.NaN,
  infinity: () => Number.POSITIVE_INFINITY,
  "-infinity": () => Number.NEGATIVE_INFINITY,
  "-0": () => -0,
  bigint: () => 5n,
  symbol: () => Symbol("a symbol"),
  function: () => () => "called",
  date: () => new Date(Date.UTC(2024, 0, 1)),
  map: () => new Map([["limit", 5]]),
  "text object": ({ text }) => new String(text),
  "number object": ({ number }) => new Number(number),
  /** So that a long text prints as a short one. */
  repeat: ({ text, times, then = "" }) => text.repeat(times) + then,
  "no prototype": ({ members }, host) => makeMembers(members, host, Object.create(null)),
  frozen: ({ members }, host) => Object.freeze(makeMembers(members, host)),
  inherited: ({ members, from }, host) =>
    makeMembers(members, host, Object.create(makeMembers(from, host))),
  "symbol member": ({ members }, host) => makeMembers(members, host, { [Symbol("limit")]: 1 }),
  "hidden member": ({ members, name, value }, host) =>
    Object.defineProperty(makeMembers(members, host), name, { value: makeValue(value, host) }),
  getter: ({ members, name, value }, host) =>
    Object.defineProperty(makeMembers(members, host), name, {
      get: () => makeValue(value, host),
      enumerable: true,
    }),
  "throwing getter": ({ members, name }, host) =>
    Object.defineProperty(makeMembers(members, host), name, {
      get: throwAlways(`the getter of ${name} throws`),
      enumerable: true,
    }),
  proxy: ({ members }, host) => new Proxy(makeMembers(members, host), {}),
  "throwing proxy": ({ members, trap }, host) =>
    new Proxy(makeMembers(members, host), { [trap]: throwAlways(`the trap ${trap} throws`) }),
  headers: ({ entries }) => new Headers(entries),
  error: ({ name = "Error", message, cause, members }, host) => {
    const options = cause === undefined ? undefined : { cause: makeValue(cause, host) };
    const error = new { Error, TypeError, RangeError, SyntaxError }[name](message, options);
    return makeMembers(members, host, error);
  },
  "DOM exception": ({ message, name }) => new DOMException(message, name),
  signal: (described, host) => host.signal(described),
  fetch: (described, host) => host.fetch(described),
  /** A function that keeps what it is called with, and may throw after that. */
  hook: ({ name, throws }, host) => {
    return (...given) => {
      host.record({ event: name, given });
      if (throws) throw new RangeError(`the hook ${name} throws`);
    };
  },
  logger: ({ without = [], throws }, host) => {
    const levels = ["error", "warn", "info", "debug"].filter((level) => !without.includes(level));
    const log = (level) => KINDS.hook({ name: `log ${level}`, throws }, host);
    return Object.fromEntries(levels.map((level) => [level, log(level)]));
  },
  /** What a custom `fetch` may give that is no `Response` but passes for one. */
  "response look-alike": ({ members, headers, json, broken }, host) => ({
    ...makeMembers(members, host),
    headers: new Headers(headers),
    ...(json !== undefined && { json: async () => makeValue(json, host) }),
    ...(broken && {
      json: async () => {
        throw new SyntaxError("no JSON");
      },
    }),
  }),
  "network error": () => Response.error(),
};
