/** Counts what a run of many cases has reached, so that it cannot quietly reach nothing. */
import { OPERATIONS } from "./parameters.mjs";

const METHODS = [...Object.keys(OPERATIONS), "agentJobs.wait", "agentJobs.watch", "buildRequest"];

/** Of 10,000 cases: a third to a half of what seeds reach. */
const LEAST = {
  events: {
    ...{ request: 10_000, result: 1_500, row: 1_000, page: 800, change: 800, onUpdate: 1_000 },
    ...{ progress: 150, onRequest: 800, onResponse: 800, onRetry: 100, "the caller aborts": 200 },
    ...{
      "request given up": 300,
      "log debug": 80,
      "log info": 80,
      "log warn": 80,
      "console warn": 500,
    },
  },
  errors: {
    ...{ ValidationError: 900, BadRequestError: 80, AuthenticationError: 12, PermissionError: 12 },
    ...{ NotFoundError: 25, ConflictError: 30, RateLimitError: 30, ServerError: 150, ApiError: 15 },
    ...{ OutcomeUnknownError: 80, ConnectionError: 100, TimeoutError: 150, DecodeError: 300 },
    ...{ JobWaitTimeoutError: 60, AbortError: 60, TypeError: 20, RangeError: 15 },
  },
  /** Of `ValidationError`. */
  rules: {
    ...{
      required: 15,
      text: 50,
      "not-empty": 15,
      "not-dot-segment": 3,
      "page-size": 30,
      offset: 3,
    },
    ...{ "job-page-size": 4, page: 3, "not-with-offset": 3, "date-format": 30, "calendar-date": 6 },
    ...{ "before-date-to": 10, "one-of": 6, ulid: 15, "base-url": 15, "secure-base-url": 6 },
    ...{ "admin-key": 15, milliseconds: 30, "retry-count": 20, "idempotency-key": 10 },
    ...{ credential: 5, unknown: 80, once: 10 },
  },
  /** How requests were sent. */
  ways: { "custom fetch": 4_000, "host's fetch": 4_000, "for an event stream": 800 },
  /** What was done with what a method returns. */
  uses: {
    ...{ "with response": 250, catch: 50, finally: 25, "both ways": 50, twice: 50, nothing: 4 },
    ...{ rows: 120, "rows at once": 120, "rows left early": 30, pages: 120, "next pages": 80 },
    ...{ resume: 20, "resume everything": 20, all: 80, "some of all": 120, changes: 300 },
    ...{
      "next page, other options": 12,
      "all, with a mistake": 6,
      "all, with a hook that throws": 3,
    },
  },
  calls: Object.fromEntries(METHODS.map((name) => [name, 120])),
  /** What came of a method otherwise than an error. */
  results: Object.fromEntries(METHODS.map((name) => [name, 40])),
};

export class Tally {
  cases = 0;
  waits = 0;
  counts = Object.fromEntries(Object.keys(LEAST).map((kind) => [kind, {}]));

  /** @param {import("./run.mjs").Case} subject @param {import("./run.mjs").Recording} recording */
  add(subject, { events, counts }) {
    this.cases += 1;
    this.waits += counts.waits;
    for (const entry of events) this.#addEvent(subject, entry);
  }

  #addEvent({ actions }, { event, of, given, by, url }) {
    this.#count("events", event);
    if (event === "request") this.#count("ways", by);
    if (url?.endsWith("/events")) this.#count("ways", "for an event stream");
    if (of === undefined) return;
    const [at, inner] = of.split(".");
    const action = inner === undefined ? actions[at] : actions[at].actions[inner];
    if (action !== undefined) this.#count("calls", action.do);
    if (action?.use !== undefined) this.#count("uses", action.use);
    if (event === "result" && action !== undefined) this.#count("results", action.do);
    const [value] = given;
    if (event === "result" || value?.error === undefined) return;
    this.#count("errors", value.error);
    if (value.error === "ValidationError") this.#count("rules", value.rule);
  }

  #count(kind, name) {
    this.counts[kind][name] = (this.counts[kind][name] ?? 0) + 1;
  }

  /** What was reached too seldom, in words. */
  findGaps() {
    return Object.entries(LEAST).flatMap(([kind, names]) =>
      Object.entries(names)
        .filter(([name, least]) => (this.counts[kind][name] ?? 0) < least)
        .map(([name, least]) => {
          const found = this.counts[kind][name] ?? 0;
          return `${kind}: ${name} ${found} times, at least ${least} are wanted`;
        }),
    );
  }

  toString() {
    const lines = Object.entries(this.counts).map(([kind, names]) => {
      const sorted = Object.entries(names).sort(([, one], [, other]) => other - one);
      return `  ${kind}: ${sorted.map(([name, count]) => `${name} ${count}`).join(", ")}`;
    });
    return [`${this.cases} cases, ${this.waits} waits of the package`, ...lines].join("\n");
  }
}
