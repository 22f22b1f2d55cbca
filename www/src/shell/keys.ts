import { computed, signal } from "@preact/signals";
import { readPreferences, savePreferences } from "./preferences.ts";

/** A shortcut: one key such as "n", or a sequence of two such as "g j". */
export interface KeyBinding {
  keys: string;
  /** The action in the list of shortcuts: "New job". */
  label: string;
  /** Whether the command palette lists it only for a query, because there are many similar ones. */
  needsQuery?: boolean;
  run(): void;
}

export interface KeyGroup {
  /** The group in the list of shortcuts: "Agent jobs". */
  owner: string;
  bindings: readonly KeyBinding[];
}

/** The maximum time between the two keys of a sequence. */
const SEQUENCE_MS = 1500;

/**
 * Whether keys without Ctrl, Alt or ⌘ are shortcuts. People who use speech input turn these
 * shortcuts off.
 */
export const keysEnabled = signal(readPreferences().keys);

export function switchKeys(enabled: boolean): void {
  keysEnabled.value = enabled;
  savePreferences({ keys: enabled });
}

const registered = signal<readonly KeyGroup[]>([]);

/** The owner of shortcuts and commands that work on every route. */
export const GENERAL = "General";

/** The active shortcuts. Each owner has one group, although it can register several times. */
export const keyGroups = computed(() => {
  const groups = new Map<string, readonly KeyBinding[]>();
  for (const { owner, bindings } of registered.value) {
    groups.set(owner, [...(groups.get(owner) ?? []), ...bindings]);
  }
  return Array.from(groups, ([owner, bindings]): KeyGroup => ({ owner, bindings }));
});

/** Activates shortcuts until the returned function is called. */
export function registerKeys(owner: string, bindings: readonly KeyBinding[]): () => void {
  const group = { owner, bindings };
  registered.value = [...registered.peek(), group];
  return () => {
    registered.value = registered.peek().filter((other) => other !== group);
  };
}

export const keyListOpen = signal(false);

export function showKeys(): void {
  keyListOpen.value = true;
}

export function closeKeys(): void {
  keyListOpen.value = false;
}

/** Keys that shortcuts use besides letters, by their position on a keyboard. */
const POSITIONS: Record<string, string> = { BracketLeft: "[", BracketRight: "]" };

/** Whether the keyboard is Greek, by the latest letter. */
let isGreek = globalThis.navigator?.language.startsWith("el") ?? false;

/** Learns from a typed letter whether the keyboard is Greek. */
export function noteLayout({ key }: Pick<KeyboardEvent, "key">): void {
  if (/^\p{L}$/u.test(key)) isGreek = /\p{Script=Greek}/u.test(key);
}

/**
 * Returns the key of a shortcut, regardless of Caps Lock. On a keyboard without Latin letters, the
 * position decides. Other layouts, such as Dvorak, keep the letters that they type.
 */
export function shortcutKey(event: Pick<KeyboardEvent, "key" | "code" | "shiftKey">): string {
  const { key, code, shiftKey } = event;
  // The only key of a Greek keyboard with a letter on it that types an ASCII sign. Programmer Dvorak
  // has the same sign there.
  const isGreekQ = isGreek && code === "KeyQ" && key === ";";
  const isLatin = /[\p{ASCII}\p{Script=Latin}]/u.test(key) && !isGreekQ;
  const latin = isLatin ? key : (POSITIONS[code] ?? code.replace("Key", ""));
  return shiftKey ? latin : latin.toLowerCase();
}

/**
 * Hides the keys of an input method from every listener: they choose or confirm characters. Safari
 * reports the last one after the composition, with the key code 229.
 */
function hideComposition(event: KeyboardEvent): void {
  if (event.isComposing || event.keyCode === 229) event.stopImmediatePropagation();
}

export function listenForKeys(): void {
  addEventListener("keydown", hideComposition, true);
  registerKeys(GENERAL, [{ keys: "?", label: "List shortcuts", run: showKeys }]);
  let first: { key: string; at: number } | null = null;
  document.addEventListener("keydown", (event) => {
    const prefix = first !== null && event.timeStamp - first.at < SEQUENCE_MS ? first.key : null;
    // Shift does not end a sequence, because keys such as "?" need it.
    if (event.key === "Shift") return;
    noteLayout(event);
    first = null;
    if (!keysEnabled.peek() || !isShortcut(event)) return;
    const key = shortcutKey(event);
    const typed = prefix === null ? key : `${prefix} ${key}`;
    const bindings = registered.peek().flatMap((group) => group.bindings);
    // The latest registration belongs to the topmost element.
    const binding = bindings.findLast(({ keys }) => keys === typed);
    if (binding) {
      event.preventDefault();
      binding.run();
    } else if (bindings.some(({ keys }) => keys.startsWith(`${key} `))) {
      first = { key, at: event.timeStamp };
    }
  });
}

/**
 * Returns whether a key with AltGr, or with Option on a Mac, types a sign: "[" on German keyboards.
 * Browsers can report AltGr as Ctrl with Alt, too.
 */
function typesSign(event: KeyboardEvent): boolean {
  const isOption = event.altKey && !event.ctrlKey && navigator.userAgent.includes("Mac");
  const isThirdLevel = isOption || event.getModifierState("AltGraph");
  return isThirdLevel && /^[\p{P}\p{S}]$/u.test(event.key);
}

/** Returns whether a key is for the page, not for an input, a dialog or the browser. */
function isShortcut(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.repeat) return false;
  if (event.metaKey || ((event.ctrlKey || event.altKey) && !typesSign(event))) return false;
  // A click inside a dialog can move the focus to the document.
  if (document.querySelector("dialog[open]") !== null) return false;
  const { target } = event;
  if (!(target instanceof Element)) return true;
  return target.closest("input, select, textarea, [contenteditable]") === null;
}
