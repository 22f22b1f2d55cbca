import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { standInForStorage, standInForWindow } from "./browser_stand_ins.mjs";
import { bundleSource } from "./source.mjs";

const MODULE = await bundleSource("shell/navigation.ts");
let documents = 0;
let tab;

beforeEach(() => {
  standInForStorage();
  tab = standInForWindow();
});

/** Loads the page at an address of the tab's history, and returns its navigation module. */
async function load(search, { state = null, type = "navigate" } = {}) {
  globalThis.location.search = search;
  globalThis.history.state = state;
  for (const method of ["pushState", "replaceState"]) {
    globalThis.history[method] = (state, _, url) => {
      globalThis.history.state = state;
      globalThis.location.search = new URL(url, "https://gateway.test").search;
    };
  }
  globalThis.location.href = `https://gateway.test/${search}`;
  globalThis.performance.getEntriesByType = () => [{ type }];
  documents += 1;
  const navigation = await import(`${MODULE}#${documents}`);
  navigation.followAddress();
  return navigation;
}

for (const search of ["?route=jobs&project=acme&signed-in=", "?project=a%20b&route=jobs"]) {
  test(`following a fragment keeps the address ${search}`, async () => {
    const { address } = await load(search);
    const before = address.peek();
    tab.goTo(search, null);
    assert.deepEqual(address.peek(), before);
    assert.equal(globalThis.location.search, search);
    assert.equal(typeof globalThis.history.state.era, "string");
  });
}

test("an entry of an earlier person shows nothing of that person", async () => {
  const { address, startOver, visit } = await load("?route=jobs&project=acme");
  const { state } = globalThis.history;
  startOver("the route");
  visit({ route: "views" });
  tab.goTo("?route=jobs&project=acme", state);
  assert.equal(address.peek().project, null);
});

test("without storage, the back button shows nothing of an earlier document", async () => {
  const refuse = () => {
    throw new DOMException("disabled", "SecurityError");
  };
  Object.assign(globalThis.sessionStorage, { getItem: refuse, setItem: refuse });
  await load("?route=jobs&project=acme");
  const { state } = globalThis.history;
  const back = await load("?route=jobs&project=acme", { state, type: "back_forward" });
  assert.equal(back.address.peek().project, null);
});

test("the page loads outside a secure context", async (context) => {
  const { randomUUID } = crypto;
  crypto.randomUUID = undefined;
  context.after(() => {
    crypto.randomUUID = randomUUID;
  });
  const { address } = await load("?route=views");
  assert.equal(address.peek().route, "views");
});
