import { ERA } from "../shell/navigation.ts";
import { browserStorage, keyOf, prefixOf, type StorageArea, tabStorage } from "../shell/storage.ts";
import { UNTIL } from "./may_be_signed_in.ts";
import { FROM } from "./sign_in_return.ts";

/** The kinds of data that people create on this page. */
export type Kind =
  | "draft"
  | "follow-up"
  | "deployment"
  | "sent"
  | "template"
  | "view"
  | "site"
  | "panel"
  | "ranges";

/** Whether a change is stored. If storage is full or disabled, it lasts until the page reloads. */
export type Applied = "stored" | "until reload";

/** The number of things that signing out deletes. */
export interface Loss {
  drafts: number;
  views: number;
  templates: number;
}

/** Kinds that no other tab shares. */
const IN_TAB: readonly Kind[] = ["site", "panel", "ranges"];
const OWN = "own";
/** Set after signing out, where Cloudflare Access could sign the person in again. */
export const LEFT = keyOf("left");
/** The only keys that outlast a session. Everything else is a person's, or from an older build. */
const LASTING = [keyOf("preferences"), UNTIL, LEFT, ERA];

/** One stored value. */
export interface Entry {
  key: string;
  read(): unknown;
  write(value: unknown): Applied;
  remove(): void;
}

/**
 * Everything that the signed-in person created or chose on this page, except preferences. Signing
 * out, or signing in as another person, deletes all of it. If the session only expires, it stays
 * for the same person. A value that storage refuses stays in memory.
 */
export class PersonData {
  readonly person: string;
  /** Aborted when the data is deleted. */
  readonly forgotten: AbortSignal;
  readonly #end = new AbortController();
  readonly #refused = new Map<string, unknown>();

  /** Deletes the data of all other persons from this browser and this tab. */
  constructor(person: string) {
    this.person = person;
    this.forgotten = this.#end.signal;
    deleteData([browserStorage, tabStorage], prefixOf(OWN, person));
  }

  /** Returns the value at a place, such as `"draft", projectId, id`. */
  entry(kind: Kind, ...parts: string[]): Entry {
    return this.#entryAt(kind, keyOf(OWN, this.person, kind, ...parts));
  }

  /** Returns the values whose place starts with these parts and has more. */
  entries(kind: Kind, ...parts: string[]): Entry[] {
    const prefix = prefixOf(OWN, this.person, kind, ...parts);
    const keys = new Set([...areaOf(kind).keys(prefix), ...this.#refused.keys()]);
    return [...keys].filter((key) => key.startsWith(prefix)).map((key) => this.#entryAt(kind, key));
  }

  /** Calls `changed` when another tab changes a value whose place starts with these parts. */
  onChangeElsewhere(
    [kind, ...parts]: [Kind, ...string[]],
    changed: (entry: Entry) => void,
    ended: AbortSignal,
  ): void {
    const prefix = prefixOf(OWN, this.person, kind, ...parts);
    const signal = AbortSignal.any([ended, this.forgotten]);
    const listen = ({ key }: StorageEvent) => {
      if (key?.startsWith(prefix)) changed(this.#entryAt(kind, key));
    };
    globalThis.addEventListener?.("storage", listen, { signal });
  }

  /** Counts what signing out deletes, in all projects. */
  loss(): Loss {
    return {
      drafts: this.#drafts().length,
      views: this.entries("view").length,
      templates: this.entries("template").length,
    };
  }

  /** Counts the drafts that storage refused. They last until the page reloads. */
  refusedDrafts(): number {
    return this.#drafts().filter(({ key }) => this.#refused.has(key)).length;
  }

  /** Returns the drafts that are not blank. */
  #drafts(): Entry[] {
    return [...this.entries("draft"), ...this.entries("follow-up")].filter(({ read }) => {
      const { text } = Object(read()) as { text?: unknown };
      return typeof text !== "string" || text.trim() !== "";
    });
  }

  /**
   * Deletes the data, or only what this tab has. Ignores later changes, such as those of a request
   * that is still pending.
   */
  forget(where: "everywhere" | "this tab" = "everywhere"): void {
    this.#end.abort();
    this.#refused.clear();
    deleteData(where === "everywhere" ? [browserStorage, tabStorage] : [tabStorage]);
  }

  #entryAt(kind: Kind, key: string): Entry {
    const area = areaOf(kind);
    return {
      key,
      read: () => (this.#refused.has(key) ? this.#refused.get(key) : area.read(key)),
      write: (value) => {
        if (this.forgotten.aborted) return "until reload";
        this.#refused.delete(key);
        if (area.write(key, value)) return "stored";
        this.#refused.set(key, value);
        return "until reload";
      },
      remove: () => {
        this.#refused.delete(key);
        area.remove(key);
      },
    };
  }
}

/** Deletes all persons' data, except at keys with the prefix `kept`. */
function deleteData(areas: readonly StorageArea[], kept?: string): void {
  for (const area of areas) {
    for (const key of area.keys("quillgate.")) {
      const isKept = kept !== undefined && (key === FROM || key.startsWith(kept));
      const stays = isKept || LASTING.includes(key);
      if (!stays) area.remove(key);
    }
  }
}

function areaOf(kind: Kind): StorageArea {
  return IN_TAB.includes(kind) ? tabStorage : browserStorage;
}
