/** The entry with the core embedded as a string, for servers and for bundlers that copy no files. */

import { decodeBytes } from "./byte_text.js";
import { explainConnection } from "./connection_failure.js";
import { text } from "./core_text.js";
import { loadFrom, setExplanation, setUserAgent } from "./engine.js";
import { isBrowser } from "./environment.js";
import { USER_AGENT } from "./generated/protocol.js";

setExplanation(explainConnection);
loadFrom(() => {
  // Runs on the first call, because importing the package must not read globals.
  if (!isBrowser()) setUserAgent(USER_AGENT);
  return decodeBytes(text);
});

export * from "./index.js";
