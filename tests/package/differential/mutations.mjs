/** Faults that are put into the package as it was, to see that the comparison finds each. */

const HOST = "snippets/quillgate-3e932333b16053be/src/wasm/host.js";

/** @type {{ name: string, file: string, from: string, to: string }[]} `file` is beside the entry */
export const MUTATIONS = [
  {
    name: "one retry more",
    file: "transport.js",
    from: "call.maxRetries ?? own.maxRetries",
    to: "call.maxRetries ?? own.maxRetries ?? 3",
  },
  {
    name: "a header field less",
    file: HOST,
    from: "return new Request(url,",
    to: 'headers.delete("accept");\n            return new Request(url,',
  },
  {
    name: "header fields in another order",
    file: HOST,
    from: "return new Request(url,",
    to: "headers = new Headers([...headers].reverse());\n            return new Request(url,",
  },
  {
    name: "redirects that are followed",
    file: HOST,
    from: 'redirect: "manual"',
    to: 'redirect: "follow"',
  },
  {
    name: "another message",
    file: "known.js",
    from: "is not an option`",
    to: "is no option`",
  },
  {
    name: "another class of error",
    file: "errors.js",
    from: "404: NotFoundError",
    to: "404: BadRequestError",
  },
  {
    name: "a member of an error less",
    file: "errors.js",
    from: "this.code = data.code;",
    to: "",
  },
  {
    name: "a stack that begins elsewhere",
    file: "errors.js",
    from: "own > 0 ? frames.slice(own) : frames",
    to: "frames",
  },
  {
    name: "a wait of one millisecond more",
    file: HOST,
    from: "setTimeout(() => finish(resolve), ms)",
    to: "setTimeout(() => finish(resolve), ms + 1)",
  },
  {
    name: "a timer that is left behind",
    file: HOST,
    from: "      clearTimeout(timer);\n      outer?.",
    to: "      outer?.",
  },
  {
    name: "a listener that is left behind",
    file: HOST,
    from: 'outer?.removeEventListener("abort", follow);',
    to: "",
  },
  {
    name: "a request that goes on though nobody waits for it",
    file: HOST,
    from: 'redirect: "manual", signal }',
    to: 'redirect: "manual" }',
  },
  {
    name: "a page too many",
    file: "list.js",
    from: "rows.length < most; pages++",
    to: "rows.length <= most; pages++",
  },
  {
    name: "a page that is asked for too early",
    file: "list.js",
    from: "rows.length >> 1",
    to: "rows.length >> 2",
  },
  {
    name: "members of a result in another order",
    file: "list.js",
    from: "{ ...data, offset, cursor }",
    to: "{ ...data, cursor, offset }",
  },
  {
    name: "a stream that is given up too soon",
    file: "job_stream.js",
    from: "const MOST_BREAKS = 3;",
    to: "const MOST_BREAKS = 2;",
  },
  {
    name: "a key of its own where one is given",
    file: "transport.js",
    from: "options.idempotencyKey ?? made",
    to: "made ?? options.idempotencyKey",
  },
  {
    name: "a log line that says more",
    file: "log.js",
    from: "new URL(url).pathname",
    to: "url",
  },
];
