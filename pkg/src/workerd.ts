/** The entry for workerd. It imports the core as a module. */

import { explainConnection } from "./connection_failure.js";
import module from "./core_bg.wasm";
import { loadFrom, setExplanation, setUserAgent } from "./engine.js";
import { USER_AGENT } from "./generated/protocol.js";

loadFrom(() => module);
setExplanation(explainConnection);
setUserAgent(USER_AGENT);

export * from "./index.js";
