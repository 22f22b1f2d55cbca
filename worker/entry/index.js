/**
 * The JavaScript entry: exports the Durable Object classes, and replaces the instance of the module
 * after a trap.
 */
import { DurableObject } from "cloudflare:workers";
import * as gateway from "../build/core/gateway.js";
import module from "../build/core/gateway_bg.wasm";
import description from "../build/core/openapi.txt";

/** The number of the current instance. Objects of earlier instances are constructed again. */
let instance = 0;
/** The latest trap. Several events can report the same one. */
let trap;
/** The `reject` functions of promises that depend on the current instance. */
const waiting = new Set();

gateway.initSync({ module });
gateway.attach(description, guardRequest);

/**
 * Replaces the instance after a trap and rejects its promises. After a trap in asynchronous code, they
 * would otherwise stay pending forever.
 */
function replaceInstance(error) {
  if (!(error instanceof WebAssembly.RuntimeError) || error === trap) return error;
  trap = error;
  instance += 1;
  gateway.__wbg_reset_state();
  gateway.attach(description, guardRequest);
  for (const reject of waiting) reject(error);
  waiting.clear();
  return error;
}

addEventListener("error", ({ error }) => replaceInstance(error));
addEventListener("unhandledrejection", ({ reason }) => replaceInstance(reason));

/** Calls the module. The result rejects if the instance traps. */
function guard(call) {
  try {
    const result = call();
    if (!(result instanceof Promise)) return result;
    return new Promise((resolve, reject) => {
      waiting.add(reject);
      const end = (settle) => (value) => waiting.delete(reject) && settle(value);
      const fail = (error) => reject(replaceInstance(error));
      result.then(end(resolve), end(fail));
    });
  } catch (error) {
    throw replaceInstance(error);
  }
}

/** Guards a request to the Worker. The runtime treats a request without a timer as hung. */
function guardRequest(call) {
  const result = guard(call);
  const timer = result instanceof Promise && setTimeout(() => {}, 2 ** 31 - 1);
  return timer ? result.finally(() => clearTimeout(timer)) : result;
}

export default {
  scheduled: (_, env) => guardRequest(() => gateway.runArchive(env)),
  async fetch(request, env, context) {
    const started = Date.now();
    const uuid = crypto.randomUUID();
    try {
      return await guardRequest(() => gateway.handle(uuid, started, request, env, context));
    } catch (error) {
      return guard(() => gateway.fail(uuid, started, request, String(error), env));
    }
  },
};

/** Creates a Durable Object class with the methods of a class of the module. */
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
