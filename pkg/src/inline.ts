/** The entry for bundlers that do not copy files: the core is text, a part of the bundle. */

import { decodeBytes } from "./byte_text.js";
import text from "./core_text.js";
import { loadFrom } from "./engine.js";

loadFrom(() => decodeBytes(text));

export * from "./index.js";
