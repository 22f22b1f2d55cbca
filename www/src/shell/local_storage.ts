/** JSON values in local storage. If storage is disabled, reads find nothing and writes fail. */

export function readStored(key: string): unknown {
  try {
    const text = localStorage.getItem(key);
    return text === null ? null : JSON.parse(text);
  } catch {
    return null;
  }
}

/** Stores a value. Returns whether that worked: storage may be full or disabled. */
export function store(key: string, value: unknown): boolean {
  try {
    localStorage.setItem(key, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

export function removeStored(key: string): void {
  try {
    localStorage.removeItem(key);
  } catch {}
}

export function storedKeys(prefix: string): string[] {
  try {
    const all = Array.from({ length: localStorage.length }, (_, at) => localStorage.key(at) ?? "");
    return all.filter((key) => key.startsWith(prefix));
  } catch {
    return [];
  }
}

/** Calls `changed` when another tab changes a key that starts with `prefix`. */
export function onStoredElsewhere(
  prefix: string,
  changed: (key: string) => void,
  ended: AbortSignal,
): void {
  globalThis.addEventListener?.(
    "storage",
    ({ key }) => {
      if (key?.startsWith(prefix)) changed(key);
    },
    { signal: ended },
  );
}
