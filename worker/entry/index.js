/**
 * The JavaScript entry point. It exports the Worker's handlers and the Durable Object classes, and
 * replaces the instance of the WebAssembly module after a trap. The code here must work after a
 * trap.
 */
import { DurableObject } from "cloudflare:workers";
import * as gateway from "../build/core/gateway.js";
import module from "../build/core/gateway_bg.wasm";
import description from "../build/core/openapi.txt";
import { formatFields } from "./host.js";

/** The runtime drops an alarm after six failed retries, so an object repeats it after the third. */
const ALARM_RETRY_MS = 60_000;
/** The number of the current instance. An inner object of an earlier instance is replaced. */
let instance = 0;
/** The latest trap. Several events can report the same trap. */
let trap;
/** The `reject` functions of promises that depend on the current instance. */
const waiting = new Set();

gateway.initSync({ module });
gateway.attach(description, openStream);

/**
 * Replaces the instance if `error` is a new trap. Rejects the promises that depend on the old
 * instance, because these promises would never settle. Returns `error`.
 */
function replaceInstance(error) {
  if (!(error instanceof WebAssembly.RuntimeError) || error === trap) return error;
  trap = error;
  instance += 1;
  gateway.__wbg_reset_state();
  gateway.attach(description, openStream);
  for (const reject of waiting) reject(error);
  waiting.clear();
  return error;
}

addEventListener("error", ({ error }) => replaceInstance(error));
addEventListener("unhandledrejection", ({ reason }) => replaceInstance(reason));

/**
 * Calls the module. If the instance traps, throws or rejects the returned promise.
 *
 * The runtime cancels a call without pending I/O and without a timer as hung, for example while it
 * waits for the I/O of another request. The timer prevents this cancellation.
 */
function guard(call) {
  try {
    const result = call();
    if (!(result instanceof Promise)) return result;
    const { promise, reject } = Promise.withResolvers();
    const timer = setTimeout(() => {}, 2 ** 31 - 1);
    waiting.add(reject);
    const settled = Promise.race([result, promise]).finally(() => {
      waiting.delete(reject);
      clearTimeout(timer);
    });
    return settled.catch((error) => Promise.reject(replaceInstance(error)));
  } catch (error) {
    throw replaceInstance(error);
  }
}

/**
 * Streams the chunks of `source`. If `source.next` fails, the stream ends with the latest `ending`.
 */
function openStream(source, signal) {
  let last;
  const cancel = () => source.cancel();
  signal.addEventListener("abort", cancel);
  const next = async () => guard(() => source.next());
  const pull = async (controller) => {
    const [chunk, ending] = await next().catch(() => [last]);
    if (chunk?.length > 0) controller.enqueue(chunk);
    last = ending ?? controller.close();
  };
  return new ReadableStream({ pull, cancel }, { highWaterMark: 0 });
}

export default {
  scheduled: (_, env) => guard(() => gateway.runArchive(env)),
  async fetch(request, env, context) {
    const started = Date.now();
    const uuid = crypto.randomUUID();
    const head = `${request.method}\n${request.url}\n${formatFields(request.headers)}`;
    try {
      return await guard(() => gateway.handle(uuid, started, head, request, env, context));
    } catch (error) {
      return guard(() => gateway.fail(uuid, started, head, String(error), env));
    }
  },
};

/**
 * Creates a Durable Object class that guards the methods of a class of the module. The classes that
 * worker-build generates have neither RPC methods nor a guard.
 */
function durableObject(Inner) {
  return class Guarded extends DurableObject {
    #inner;
    #instance;
    static {
      for (const name of Object.getOwnPropertyNames(Inner.prototype)) {
        if (["constructor", "free", "__destroy_into_raw"].includes(name)) continue;
        Guarded.prototype[name] = function (...args) {
          return guard(() => {
            if (this.#instance !== instance) this.#inner = new Inner(this.ctx, this.env);
            this.#instance = instance;
            return this.#inner[name](...args);
          });
        };
      }
      const { alarm } = Guarded.prototype;
      Guarded.prototype.alarm &&= async function (info) {
        try {
          await alarm.call(this);
        } catch (error) {
          console.error(JSON.stringify({ operator: `an alarm failed: ${error}` }));
          if (info?.retryCount < 3) throw error;
          const [{ storage }, retryAt] = [this.ctx, Date.now() + ALARM_RETRY_MS];
          const next = await storage.getAlarm();
          if (next === null || next > retryAt) await storage.setAlarm(retryAt);
        }
      };
    }
  };
}

// Never rename these classes: Cloudflare and the local runtime find stored state by the class name.
export class ProjectGate extends durableObject(gateway.ProjectObject) {}
export class OrgGate extends durableObject(gateway.OrganizationObject) {}
export class Session extends durableObject(gateway.Session) {}
