/** Stand-ins for browser APIs. Tests install them before they import the page's modules. */

/** Installs a storage of the browser and one of the tab. Returns the values of the former. */
export function standInForStorage() {
  const stored = new Map();
  globalThis.localStorage = createStorage(stored);
  globalThis.sessionStorage = createStorage(new Map());
  return stored;
}

function createStorage(stored) {
  return {
    get length() {
      return stored.size;
    },
    key: (at) => [...stored.keys()][at] ?? null,
    getItem: (name) => stored.get(name) ?? null,
    setItem: (name, value) => stored.set(name, value),
    removeItem: (name) => stored.delete(name),
  };
}

/** Makes a storage refuse new values, as a full one does. Returns a function that ends this. */
export function fillStorage(storage = globalThis.localStorage) {
  const { setItem } = storage;
  storage.setItem = () => {
    throw new DOMException("full", "QuotaExceededError");
  };
  return () => {
    storage.setItem = setItem;
  };
}

/** Installs a window with an address, an empty document, and the events of both. */
export function standInForWindow() {
  const page = new EventTarget();
  globalThis.addEventListener = page.addEventListener.bind(page);
  globalThis.location = { search: "", origin: "https://gateway.test", pathname: "/" };
  globalThis.history = { pushState() {}, replaceState() {} };
  globalThis.document = Object.assign(new EventTarget(), { hidden: false });
  return {
    /** Changes the storage as another tab would. */
    changeElsewhere(stored, key, value) {
      if (value === null) stored.delete(key);
      else stored.set(key, JSON.stringify(value));
      page.dispatchEvent(Object.assign(new Event("storage"), { key }));
    },
    /** Moves to another history entry, as the back button or a fragment does. */
    goTo(search, state) {
      globalThis.location.search = search;
      globalThis.history.state = state;
      page.dispatchEvent(Object.assign(new Event("popstate"), { state }));
    },
    setHidden(hidden) {
      globalThis.document.hidden = hidden;
      globalThis.document.dispatchEvent(new Event("visibilitychange"));
    },
  };
}
