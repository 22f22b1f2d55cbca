/** The entry for Vercel's edge runtime: bundlers compile the core when they see `?module`. */

import module from "./core_bg.wasm?module";
import { loadFrom } from "./engine.js";

loadFrom(() => module);

export * from "./index.js";
