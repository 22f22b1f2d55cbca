/** Runs a case with one package, and records all that its caller and the server can see. */
import { getEventListeners } from "node:events";
import { fileURLToPath } from "node:url";
import { Snapshots } from "./snapshot.mjs";
import { makeValue } from "./values.mjs";
import { VirtualHost } from "./virtual_host.mjs";
import { VirtualServer } from "./virtual_server.mjs";

/** A case that needs more timers than this does not come to its end. */
const MOST_TIMERS = 20_000;
const MOST_TIMERS_AFTER = 1_000;
const THIS_FILE = fileURLToPath(import.meta.url);

/**
 * @typedef {object} Case
 * @property {number} number
 * @property {number} seed of the host's random numbers
 * @property {number} start the time at first, in milliseconds since 1970
 * @property {unknown} client the options, described as `values.mjs` has it
 * @property {Record<string, string>} [environment]
 * @property {Action[]} actions one after another
 * @property {import("./virtual_server.mjs").Answer[]} answers in the order of the requests, the last
 *   one from then on
 * @property {import("./virtual_server.mjs").Answer[]} [streams] the same for event streams
 *
 * @typedef {object} Action
 * @property {string} do
 * @property {unknown[]} [args] described
 * @property {string} [use] what is done with the result
 * @property {number} [take] how many rows, pages or changes are taken
 *
 * @typedef {object} Recording
 * @property {object[]} events
 * @property {object} left what is left behind
 * @property {{ requests: number, waits: number }} counts
 */

/**
 * @param {object} quillgate the package
 * @param {Case} subject
 * @returns {Promise<Recording>}
 */
export async function runCase(quillgate, subject) {
  const run = new Run(quillgate, subject);
  return run.carryOut();
}

class Run {
  #quillgate;
  #case;
  #events = [];
  #snapshots;
  #host;
  #server;
  #make;
  #signals = [];
  #aborts = [];
  #client;

  constructor(quillgate, subject) {
    this.#quillgate = quillgate;
    this.#case = subject;
    this.#snapshots = new Snapshots(quillgate, THIS_FILE);
    const record = (event) => this.#record(event);
    const { seed, start } = subject;
    const fetch = (input, init) => this.#server.hostFetch(input, init);
    this.#host = new VirtualHost({ seed, start, record, fetch });
    this.#make = {
      record,
      signal: (described) => this.#makeSignal(described),
      fetch: () => this.#server.customFetch,
    };
    this.#server = new VirtualServer({
      host: this.#host,
      script: subject,
      record,
      make: this.#make,
      label: (value, name) => this.#snapshots.label(value, name),
    });
  }

  async carryOut() {
    const lost = [];
    const release = catchLost((reason) => lost.push(this.#snapshots.take(reason)));
    const restoreEnvironment = setEnvironment(this.#case.environment ?? {});
    this.#host.install();
    let atEnd;
    try {
      let isOver = false;
      this.#act().finally(() => {
        isOver = true;
      });
      const ended = await this.#host.run(() => isOver, MOST_TIMERS);
      atEnd = { ended, ...this.#leftBehind() };
      // What is sent or logged after the end is recorded, too.
      await this.#host.run(() => false, MOST_TIMERS_AFTER);
    } finally {
      this.#host.restore();
      restoreEnvironment();
      release();
    }
    const { waits } = this.#host;
    const recording = { events: this.#events, left: { ...atEnd, lost } };
    return {
      ...JSON.parse(this.#host.nameKeys(JSON.stringify(recording))),
      counts: { requests: this.#server.requests, waits },
    };
  }

  #leftBehind() {
    return {
      timers: this.#host.timersLeft,
      openRequests: this.#server.open,
      abortListeners: this.#signals.map((signal) => getEventListeners(signal, "abort").length),
    };
  }

  /** Returns the entry: what is known of it later can still be added. */
  #record({ event, given, ...rest }) {
    const entry = { event, at: this.#host.elapsed, ...rest };
    if (given !== undefined) entry.given = this.#snapshots.take(given);
    this.#events.push(entry);
    if (event === "request") this.#abortAt(rest.number);
    return entry;
  }

  #makeSignal({ abort, reason }) {
    const controller = new AbortController();
    const { signal } = controller;
    this.#signals.push(signal);
    const stop = () => {
      this.#record({ event: "the caller aborts" });
      if (reason === undefined) controller.abort();
      else controller.abort(makeValue(reason, this.#make));
      if (typeof signal.reason === "object" && signal.reason !== null) {
        this.#snapshots.label(signal.reason, "the signal's reason");
      }
    };
    if (abort === "before") stop();
    else if (abort?.request !== undefined) this.#aborts.push({ ...abort, stop });
    else if (abort !== undefined) this.#host.after(abort.at, stop);
    return signal;
  }

  #abortAt(number) {
    for (const { request, after, stop } of this.#aborts) {
      if (request === number) this.#host.after(after, stop);
    }
  }

  async #act() {
    const made = await this.#attempt("client", () => {
      const options = makeValue(this.#case.client, this.#make);
      this.#client = new this.#quillgate.Client(options);
      return NOTHING;
    });
    if (!made) return;
    for (const [at, action] of this.#case.actions.entries()) await this.#carryOut(action, `${at}`);
  }

  async #carryOut(action, name) {
    if (action.do === "together") {
      const all = action.actions.map((each, at) => this.#carryOut(each, `${name}.${at}`));
      await Promise.all(all);
      return;
    }
    await this.#attempt(name, () => {
      const args = (action.args ?? []).map((arg) => makeValue(arg, this.#make));
      if (action.do === "buildRequest") return this.#client.buildRequest(...args);
      if (action.do === "withOptions") return this.#changeClient(...args);
      return this.#call(args, action);
    });
  }

  #changeClient(options) {
    this.#client = this.#client.withOptions(options);
    return NOTHING;
  }

  /** Records what comes of `work`: its result, what it throws, or what it rejects with. */
  async #attempt(name, work) {
    let at = "throws";
    try {
      const pending = work();
      at = "rejects";
      const value = await pending;
      if (value !== NOTHING) this.#record({ event: "result", of: name, given: [value] });
      return true;
    } catch (error) {
      this.#record({ event: at, of: name, given: [error] });
      return false;
    }
  }

  #method(path) {
    const [resource, method] = path.split(".");
    return (...args) => this.#client[resource][method](...args);
  }

  #call(args, { do: path, use, take }) {
    const pending = this.#method(path)(...args);
    return CONSUMERS[use ?? "await"](pending, {
      take,
      pause: () => new Promise((resolve) => this.#host.after(1.003, resolve)),
      report: (event, ...given) => this.#record({ event, given }),
      again: (params) => this.#method(path)(params, ...args.slice(1)),
    });
  }
}

const NOTHING = Symbol("nothing to record");

/** What a caller does with what a method returns. */
const CONSUMERS = {
  await: (pending) => pending,
  "with response": (pending) => pending.withResponse(),
  catch: (pending) => pending.catch((error) => ({ caught: error })),
  finally: (pending, { report }) => pending.finally(() => report("finally")),
  "both ways": (pending) =>
    pending.then(
      (value) => ({ kind: Object.prototype.toString.call(pending), value }),
      (error) => ({ kind: Object.prototype.toString.call(pending), error }),
    ),
  /** The same promise twice: one request. */
  twice: async (pending) => {
    const [first, second] = await Promise.allSettled([pending, pending.withResponse()]);
    return { first, second };
  },
  /** Nothing is awaited, so nothing of a list is sent. */
  nothing: () => undefined,

  /** Every row, with time between them, so that it shows when a page is asked for. */
  rows: async (list, { take, pause, report }) => {
    let taken = 0;
    for await (const row of list) {
      report("row", row);
      taken += 1;
      if (taken === take) break;
      await pause();
    }
    return taken;
  },
  "rows at once": async (list) => {
    const rows = [];
    for await (const row of list) rows.push(row);
    return rows;
  },
  /** Left while something is under way. */
  "rows left early": async (list, { take, pause, report }) => {
    const rows = list[Symbol.asyncIterator]();
    for (let taken = 0; taken < take; taken++) report("row", await rows.next());
    const pending = rows.next();
    pending.catch(() => {});
    await pause();
    const left = await rows.return();
    return { left, pending: await pending, after: await rows.next() };
  },
  pages: async (list, { take, pause, report }) => {
    let taken = 0;
    for await (const page of list.pages()) {
      report("page", page);
      taken += 1;
      if (taken === take) break;
      await pause();
    }
    return taken;
  },
  "next pages": async (list, { take, report, pause }) => {
    let page = await list;
    for (let taken = 0; page !== null && taken < take; taken++) {
      report("page", page);
      await pause();
      page = await page.nextPage();
    }
    return page;
  },
  "next page, other options": async (list, { take }) => {
    const page = await list;
    return [page, await page.nextPage({ timeout: take, maxRetries: 0 })];
  },
  /** From a cursor that was kept as text. */
  resume: async (list, { again, report }) => {
    const page = await list;
    report("page", page);
    return again({ cursor: JSON.parse(JSON.stringify(page.cursor)) });
  },
  "resume everything": async (list, { again, report }) => {
    const page = await list;
    report("page", page);
    return again({ cursor: JSON.parse(JSON.stringify(page.cursor)) }).all();
  },
  all: (list) => list.all(),
  "some of all": (list, { take, report }) =>
    list.all({ maxRows: take, onProgress: (progress) => report("progress", progress) }),
  "all, with a mistake": (list, { take }) => list.all({ maxRows: take, maxrows: 3 }),
  "all, with a hook that throws": (list) =>
    list.all({
      onProgress() {
        throw new RangeError("the hook onProgress throws");
      },
    }),

  /** Every change of a job. */
  changes: async (watch, { take, pause, report }) => {
    let taken = 0;
    for await (const change of watch) {
      report("change", change);
      taken += 1;
      if (taken === take) break;
      await pause();
    }
    return taken;
  },
};

/** Hears of the errors that nobody catches, in the place of whoever else does. */
function catchLost(onLost) {
  const events = ["unhandledRejection", "uncaughtException"];
  const others = events.map((event) => [event, process.listeners(event)]);
  for (const event of events) {
    process.removeAllListeners(event);
    process.on(event, onLost);
  }
  return () => {
    for (const [event, listeners] of others) {
      process.removeListener(event, onLost);
      for (const listener of listeners) process.on(event, listener);
    }
  };
}

/** Variables that the package reads. */
const VARIABLES = ["BASE_URL", "PROJECT_ID", "TOKEN", "LOG"].map((name) => `QUILLGATE_${name}`);

function setEnvironment(variables) {
  const before = VARIABLES.map((name) => [name, process.env[name]]);
  const put = ([name, value]) => {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  };
  for (const name of VARIABLES) put([name, variables[name]]);
  return () => before.forEach(put);
}
