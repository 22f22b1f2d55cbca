import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as settle } from "node:timers/promises";
import { column } from "./columns.mjs";
import { importSource } from "./source.mjs";

class StandInForLink extends EventTarget {
  rel = "stylesheet";
  isConnected = true;
  /** The link that has taken its place in the document. */
  successor = null;

  cloneNode() {
    return new StandInForLink();
  }

  replaceWith(link) {
    this.successor = link;
  }
}

let reportError;
globalThis.HTMLLinkElement = StandInForLink;
globalThis.addEventListener = (_type, listener) => {
  reportError = listener;
};
const { reloadStyles } = await importSource("shell/failed_styles.ts");

/** Dispatches an event that the window captures, too. */
function failToLoad(link) {
  link.dispatchEvent(new Event("error"));
  reportError({ target: link });
}

test("parts that load concurrently wait for the same style sheet", async () => {
  const link = new StandInForLink();
  failToLoad(link);
  const first = reloadStyles();
  let isLoaded = false;
  const second = reloadStyles().then(() => {
    isLoaded = true;
  });
  await settle();
  assert.equal(isLoaded, false);
  link.successor.dispatchEvent(new Event("load"));
  await Promise.all([first, second]);
});

test("a style sheet that fails again is requested once more by the next part", async () => {
  const link = new StandInForLink();
  failToLoad(link);
  const parts = [reloadStyles(), reloadStyles()];
  failToLoad(link.successor);
  const outcomes = await Promise.allSettled(parts);
  assert.deepEqual(column(outcomes, "status"), ["rejected", "rejected"]);
  const next = reloadStyles();
  link.successor.successor.dispatchEvent(new Event("load"));
  await next;
});
