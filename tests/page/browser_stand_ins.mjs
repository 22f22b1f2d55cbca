/** What the page's modules find in a browser, as far as their tests without one need it. */

/** The storage of a browser, shared by all that is imported afterwards. */
export function standInForStorage() {
  const stored = new Map();
  globalThis.localStorage = {
    get length() {
      return stored.size;
    },
    key: (at) => [...stored.keys()][at] ?? null,
    getItem: (name) => stored.get(name) ?? null,
    setItem: (name, value) => stored.set(name, value),
    removeItem: (name) => stored.delete(name),
  };
  return stored;
}

/** A window in which nothing is shown: its address, its document and the events of both. */
export function standInForWindow() {
  const page = new EventTarget();
  globalThis.addEventListener = page.addEventListener.bind(page);
  globalThis.location = { search: "", origin: "https://gateway.test", pathname: "/" };
  globalThis.history = { pushState() {}, replaceState() {} };
  globalThis.document = Object.assign(new EventTarget(), { hidden: false });
  return {
    /** Has another tab of the browser change what is stored. */
    changeElsewhere(stored, key, value) {
      if (value === null) stored.delete(key);
      else stored.set(key, JSON.stringify(value));
      page.dispatchEvent(Object.assign(new Event("storage"), { key }));
    },
    /** Hides or shows the page, as another tab in front of it does. */
    setHidden(hidden) {
      globalThis.document.hidden = hidden;
      globalThis.document.dispatchEvent(new Event("visibilitychange"));
    },
  };
}
