/** The entry for workerd: the core is an imported module. */

import module from "./core_bg.wasm";
import { loadFrom } from "./engine.js";

loadFrom(() => module);

export * from "./index.js";
