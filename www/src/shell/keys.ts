import { computed, signal } from "@preact/signals";
import { readPreferences, savePreferences } from "./preferences.ts";

/** A shortcut: one key such as "n", or two one after the other, such as "g j". */
export interface KeyBinding {
  keys: string;
  /** What it does, as the list of shortcuts says it: "New job". */
  label: string;
  run(): void;
}

export interface KeyGroup {
  /** Where the shortcuts belong, as the list of shortcuts says it: "Agent jobs". */
  owner: string;
  bindings: readonly KeyBinding[];
}

/** How long the first key of two waits for the second. */
const SEQUENCE_MS = 1500;

/** Whether single keys work as shortcuts; people who speak to their browser switch them off. */
export const keysEnabled = signal(readPreferences().keys);

export function switchKeys(enabled: boolean): void {
  keysEnabled.value = enabled;
  savePreferences({ keys: enabled });
}

const registered = signal<readonly KeyGroup[]>([]);

/** Every shortcut that works now, by where it belongs. */
export const keyGroups = computed(() => registered.value);

/** Makes shortcuts work until the returned function is called. */
export function registerKeys(owner: string, bindings: readonly KeyBinding[]): () => void {
  const group = { owner, bindings };
  registered.value = [...registered.peek(), group];
  return () => {
    registered.value = registered.peek().filter((other) => other !== group);
  };
}

/** Whether the list of shortcuts is shown. */
export const keyListOpen = signal(false);

export function showKeys(): void {
  keyListOpen.value = true;
}

/** Listens for shortcuts on the whole page. */
export function listenForKeys(): void {
  registerKeys("Everywhere", [{ keys: "?", label: "List shortcuts", run: showKeys }]);
  let first: { key: string; at: number } | null = null;
  document.addEventListener("keydown", (event) => {
    const prefix = first !== null && event.timeStamp - first.at < SEQUENCE_MS ? first.key : null;
    // Shift is part of some keys, as of "?".
    if (event.key === "Shift") return;
    first = null;
    if (!keysEnabled.peek() || !isShortcut(event)) return;
    const typed = prefix === null ? event.key : `${prefix} ${event.key}`;
    const bindings = registered.peek().flatMap((group) => group.bindings);
    // What was registered last belongs to what is shown on top.
    const binding = bindings.findLast(({ keys }) => keys === typed);
    if (binding) {
      event.preventDefault();
      binding.run();
    } else if (bindings.some(({ keys }) => keys.startsWith(`${event.key} `))) {
      first = { key: event.key, at: event.timeStamp };
    }
  });
}

/** Whether a key is meant for the page, and not for a text box, a dialog or the browser. */
function isShortcut(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.repeat || event.isComposing) return false;
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  const { target } = event;
  if (!(target instanceof Element)) return true;
  return target.closest("input, select, textarea, [contenteditable], dialog") === null;
}
