/** The entry that embeds the core as a string, for servers and for bundlers that do not copy files. */

import { decodeBytes } from "./byte_text.js";
import text from "./core_text.js";
import { loadFrom, setUserAgent } from "./engine.js";
import { isBrowser } from "./environment.js";
import { USER_AGENT } from "./generated/protocol.js";

loadFrom(() => {
  // Importing the package reads no global.
  if (!isBrowser()) setUserAgent(USER_AGENT);
  return decodeBytes(text);
});

export * from "./index.js";
