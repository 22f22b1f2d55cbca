import { replaceHalves } from "./readable_text.ts";

/**
 * Returns the storage key of a value. Encodes each part, so that no part can contain the separator:
 * the project `acme.docs` shares no key and no prefix with `acme`.
 */
export function keyOf(...parts: string[]): string {
  return ["quillgate", ...parts.map(encodePart)].join(".");
}

/** Returns the start of all keys that have these parts and more. */
export function prefixOf(...parts: string[]): string {
  return `${keyOf(...parts)}.`;
}

function encodePart(part: string): string {
  return encodeURIComponent(replaceHalves(part)).replaceAll(".", "%2E");
}

/** JSON values in one of the browser's storages, which can be disabled or full. */
export class StorageArea {
  readonly #open: () => Storage;

  constructor(open: () => Storage) {
    this.#open = open;
  }

  /** Returns whether the browser allows reading. */
  isReadable(): boolean {
    return this.#attempt((storage) => storage.length >= 0, false);
  }

  /** Returns a value; null if it is absent, malformed or unreadable. */
  read(key: string): unknown {
    return this.#attempt((storage) => JSON.parse(storage.getItem(key) ?? "null"), null);
  }

  /** Stores a value. Returns whether that worked. */
  write(key: string, value: unknown): boolean {
    return this.#attempt((storage) => {
      storage.setItem(key, JSON.stringify(value));
      return true;
    }, false);
  }

  remove(key: string): void {
    this.#attempt((storage) => storage.removeItem(key), undefined);
  }

  keys(prefix: string): string[] {
    return this.#attempt((storage) => {
      const all = Array.from({ length: storage.length }, (_, at) => storage.key(at) ?? "");
      return all.filter((key) => key.startsWith(prefix));
    }, []);
  }

  #attempt<Result>(work: (storage: Storage) => Result, otherwise: Result): Result {
    try {
      return work(this.#open());
    } catch {
      // Browsers throw if storage is disabled or full.
      return otherwise;
    }
  }
}

/** Shared by all tabs. */
export const browserStorage = new StorageArea(() => localStorage);

/** Survives a reload of this tab. */
export const tabStorage = new StorageArea(() => sessionStorage);
