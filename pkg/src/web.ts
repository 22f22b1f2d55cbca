/** The entry for browsers and bundlers: the core is fetched from beside this file. */

import { loadFrom } from "./engine.js";

loadFrom(() => fetch(new URL("./core_bg.wasm", import.meta.url)));

export * from "./index.js";
