/** Loads the wasm core on first use. Each entry of the package sets where its bytes come from. */

import { checkClient, imports, setExports, Task } from "./core.js";
import { explainOpaque } from "./opaque_failure.js";

/** Returns the core's bytes, a response with those bytes, or the compiled module. */
export type ModuleSource = () =>
  | Promise<BufferSource | Response>
  | Response
  | BufferSource
  | WebAssembly.Module;

/** Set by each entry, before a client can exist. */
let source: ModuleSource;
let loading: Promise<Core> | undefined;
/** Explains errors of `fetch`. */
export let explain = explainOpaque;
/** The `User-Agent` of requests; `undefined` leaves it to the runtime. */
export let userAgent: string | undefined;

/** The exports of the core. */
export interface Core {
  readonly Task: typeof Task;
  readonly checkClient: typeof checkClient;
}

/** Sets the source of the core's bytes. A client's first call fetches and compiles them. */
export function loadFrom(from: ModuleSource): void {
  source = from;
}

/** Sets an explanation for runtimes whose errors of `fetch` have a cause. */
export function setExplanation(explanation: typeof explain): void {
  explain = explanation;
}

/** Sets the `User-Agent` of requests. Not for browsers: it could cause CORS preflight requests. */
export function setUserAgent(agent: string): void {
  userAgent = agent;
}

/** Loads the core once, and returns it. After a failure, the next call tries again. */
export function loadCore(): Promise<Core> {
  loading ??= load().catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

async function load(): Promise<Core> {
  const instance = await instantiate(await source());
  const exports: WebAssembly.Exports & { __wbindgen_start?: () => void } = instance.exports;
  setExports(exports);
  // Fills the table of references, in builds that have one.
  exports.__wbindgen_start?.();
  return { Task, checkClient };
}

async function instantiate(
  module: BufferSource | Response | WebAssembly.Module,
): Promise<WebAssembly.Instance> {
  // Without `instanceof`, because some hosts of tests, such as jsdom, have no `Response`.
  if (!("arrayBuffer" in module)) {
    const made = await WebAssembly.instantiate(module as BufferSource, imports);
    // From bytes, `instantiate` returns an object with `instance`. From a compiled module, it returns
    // the instance itself. `instanceof` would not recognize a module of another realm.
    return made.instance ?? made;
  }
  // `instantiateStreaming` accepts only `application/wasm`, but some servers send another type.
  const type = module.headers.get("content-type");
  const { instance } =
    type === "application/wasm"
      ? await WebAssembly.instantiateStreaming(module, imports)
      : await WebAssembly.instantiate(await module.arrayBuffer(), imports);
  return instance;
}
