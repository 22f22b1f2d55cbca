/** The entry for Vercel's edge runtime. Bundlers compile a wasm file imported with `?module`. */

import module from "./core_bg.wasm?module";
import { loadFrom, setUserAgent } from "./engine.js";
import { USER_AGENT } from "./generated/protocol.js";

loadFrom(() => module);
setUserAgent(USER_AGENT);

export * from "./index.js";
