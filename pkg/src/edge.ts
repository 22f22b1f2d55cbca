/** The entry for Vercel's edge runtime: bundlers compile the core when they see `?module`. */

import module from "./core_bg.wasm?module";
import { loadFrom, setUserAgent } from "./engine.js";
import { USER_AGENT } from "./generated/protocol.js";

loadFrom(() => module);
setUserAgent(USER_AGENT);

export * from "./index.js";
