/** The entry for browsers and bundlers. It fetches the core from the folder of this file. */

import { loadFrom } from "./engine.js";

loadFrom(() => fetch(new URL("./core_bg.wasm", import.meta.url)));

export * from "./index.js";
