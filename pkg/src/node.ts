/** The entry for Node, Deno and Bun: the core is read from beside this file. */

import { readFile } from "node:fs/promises";
import { loadFrom } from "./engine.js";

loadFrom(() => readFile(new URL("./core_bg.wasm", import.meta.url)));

export * from "./index.js";
