/** Loads the wasm core on first use, once. Where its bytes come from is the entry's to say. */

import { checkClient, imports, setExports, Task } from "./core.js";

/** What a module can be made of: bytes, a response that carries them, or the module itself. */
export type ModuleSource = () =>
  | Promise<BufferSource | Response>
  | Response
  | BufferSource
  | WebAssembly.Module;

/** Each entry sets it before there can be a client. */
let source: ModuleSource;
let loading: Promise<Core> | undefined;

/** What the core exports. */
export interface Core {
  readonly Task: typeof Task;
  readonly checkClient: typeof checkClient;
}

/** Says where the core's bytes come from. Nothing is fetched or compiled until the first call. */
export function loadFrom(from: ModuleSource): void {
  source = from;
}

/** The core, once it is there. A load that failed is tried again by the next call. */
export function loadCore(): Promise<Core> {
  loading ??= load().catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

async function load(): Promise<Core> {
  const instance = await instantiate(await source());
  setExports(instance.exports);
  return { Task, checkClient };
}

async function instantiate(
  module: BufferSource | Response | WebAssembly.Module,
): Promise<WebAssembly.Instance> {
  const all = { a: imports };
  if (module instanceof WebAssembly.Module) return new WebAssembly.Instance(module, all);
  if (!(module instanceof Response)) return (await WebAssembly.instantiate(module, all)).instance;
  // A server that does not know the type of wasm files gives them another.
  const type = module.headers.get("content-type");
  const { instance } =
    type === "application/wasm"
      ? await WebAssembly.instantiateStreaming(module, all)
      : await WebAssembly.instantiate(await module.arrayBuffer(), all);
  return instance;
}
