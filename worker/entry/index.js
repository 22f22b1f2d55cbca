/**
 * What has to be JavaScript of the Worker: the head of a request in one text, the classes that take
 * calls of other isolates, and what keeps a trap from taking its neighbours along.
 */
import { DurableObject } from "cloudflare:workers";
import * as gateway from "../build/core/gateway.js";
import module from "../build/core/gateway_bg.wasm";
import description from "../build/core/openapi.txt";

/** Counts the instances of the module: an object of an earlier one is constructed again. */
let instance = 0;
/** The latest trap, which may be reported more than once. */
let trap;
/** Rejects what waits for the present instance. */
const waiting = new Set();

gateway.initSync({ module });
gateway.attach(description, guardRequest);
const READ_HEADERS = gateway.headerNames(false).split("\n");
const POST_HEADERS = gateway.headerNames(true).split("\n");

/**
 * Replaces an instance that has trapped, and ends what waits for it: a trap in asynchronous code
 * leaves its promise, and every other one of that instance, open for ever.
 */
function heal(error) {
  if (!(error instanceof WebAssembly.RuntimeError) || error === trap) return error;
  trap = error;
  instance += 1;
  gateway.__wbg_reset_state();
  gateway.attach(description, guardRequest);
  for (const reject of waiting) reject(error);
  waiting.clear();
  return error;
}

addEventListener("error", ({ error }) => heal(error));
addEventListener("unhandledrejection", ({ reason }) => heal(reason));

/** Runs a call of the module, which ends even if the instance traps. */
function guard(call) {
  try {
    const result = call();
    if (!(result instanceof Promise)) return result;
    return new Promise((resolve, reject) => {
      waiting.add(reject);
      const end = (settle) => (value) => waiting.delete(reject) && settle(value);
      const fail = (error) => reject(heal(error));
      result.then(end(resolve), end(fail));
    });
  } catch (error) {
    throw heal(error);
  }
}

/** As `guard` for a request to the Worker, not to an object: without a timer it would be taken for hung. */
function guardRequest(call) {
  const result = guard(call);
  const timer = result instanceof Promise && setTimeout(() => {}, 2 ** 31 - 1);
  return timer ? result.finally(() => clearTimeout(timer)) : result;
}

/** What decides about a request, as `http/request_head.rs` reads it. */
function packHead({ headers, method, url }) {
  let head = `${crypto.randomUUID()}\n${method}\n${url}`;
  for (const name of method === "POST" ? POST_HEADERS : READ_HEADERS) {
    const value = headers.get(name);
    head += value === null ? "\n" : `\n=${value}`;
  }
  return head;
}

export default {
  scheduled: (_, env) => guardRequest(() => gateway.runArchive(env)),
  async fetch(request, env, context) {
    const started = Date.now();
    const head = packHead(request);
    try {
      return await guardRequest(() => gateway.handle(head, started, request, env, context));
    } catch (error) {
      return guard(() => gateway.fail(head, started, String(error), env));
    }
  },
};

/** A Durable Object whose methods are those of a class of the module. */
function durableObject(Gate) {
  return class Guarded extends DurableObject {
    #gate;
    #instance;
    static {
      for (const name of Object.getOwnPropertyNames(Gate.prototype)) {
        if (["constructor", "free", "__destroy_into_raw"].includes(name)) continue;
        Guarded.prototype[name] = function (...args) {
          return guard(() => {
            if (this.#instance !== instance) this.#gate = new Gate(this.ctx, this.env);
            this.#instance = instance;
            return this.#gate[name](...args);
          });
        };
      }
    }
  };
}

export class ProjectGate extends durableObject(gateway.ProjectGate) {}
export class OrgGate extends durableObject(gateway.OrgGate) {}
export class Session extends durableObject(gateway.Session) {}
