/** The entry that embeds the core as a string, for servers and for bundlers that do not copy files. */

import { decodeBytes } from "./byte_text.js";
import text from "./core_text.js";
import { loadFrom } from "./engine.js";

loadFrom(() => decodeBytes(text));

export * from "./index.js";
