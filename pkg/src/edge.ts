/** The entry for Vercel's edge runtime. Bundlers compile a wasm file imported with `?module`. */

import { explainConnection } from "./connection_failure.js";
import module from "./core_bg.wasm?module";
import { loadFrom, setExplanation, setUserAgent } from "./engine.js";
import { USER_AGENT } from "./generated/protocol.js";

loadFrom(() => module);
setExplanation(explainConnection);
setUserAgent(USER_AGENT);

export * from "./index.js";
