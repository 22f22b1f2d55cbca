/** The entry for workerd. It imports the core as a module. */

import module from "./core_bg.wasm";
import { loadFrom, setUserAgent } from "./engine.js";
import { USER_AGENT } from "./generated/protocol.js";

loadFrom(() => module);
setUserAgent(USER_AGENT);

export * from "./index.js";
