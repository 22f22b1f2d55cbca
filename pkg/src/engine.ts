/** Loads the wasm core on first use, once. Where its bytes come from is the entry's to say. */

import init, { type Engine, Engine as EngineClass, initSync } from "./core.js";

/** What a module can be made of: bytes, a response that carries them, or the module itself. */
export type ModuleSource = () =>
  | Promise<BufferSource | Response>
  | Response
  | BufferSource
  | WebAssembly.Module;

let source: ModuleSource | undefined;
let loading: Promise<typeof EngineClass> | undefined;

/** Says where the core's bytes come from. Nothing is fetched or compiled until the first call. */
export function loadFrom(from: ModuleSource): void {
  source = from;
}

/** The engine's class, once the core is there. A load that failed is tried again by the next call. */
export function engineClass(): Promise<typeof EngineClass> {
  loading ??= load().catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

async function load(): Promise<typeof EngineClass> {
  if (source === undefined) throw new Error("quillgate: no entry has said where the core is");
  const module = source();
  if (module instanceof WebAssembly.Module) initSync({ module });
  else await init({ module_or_path: module });
  return EngineClass;
}

export type { Engine };
