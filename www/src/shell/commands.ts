import { signal } from "@preact/signals";
import { type KeyBinding, keyGroups, shortcutKey } from "./keys.ts";

/** An entry of the command palette, with or without a shortcut. */
export type Command = Omit<KeyBinding, "keys"> & Partial<Pick<KeyBinding, "keys">>;

export interface CommandGroup {
  owner: string;
  commands: readonly Command[];
}

interface CommandSource {
  owner: string;
  list(): readonly Command[];
}

export const paletteOpen = signal(false);

export function closePalette(): void {
  paletteOpen.value = false;
}

const sources = signal<readonly CommandSource[]>([]);
/** The maximum number of entries that the palette shows. */
const MAX_MATCHES = 30;
/** The maximum number of entries per group without a query, so that other groups stay visible. */
const MAX_PER_GROUP = 6;
/** Shortcuts that move within a list. The palette omits them, because it takes the focus. */
const MOVES = new Set(["j", "k"]);

/** Adds commands to the palette until the returned function is called. */
export function registerCommands(owner: string, list: () => readonly Command[]): () => void {
  const source = { owner, list };
  sources.value = [...sources.peek(), source];
  return () => {
    sources.value = sources.peek().filter((other) => other !== source);
  };
}

/** Returns all commands by owner: first the shortcuts, latest owner first, then the sources. */
export function allCommands(): CommandGroup[] {
  const groups = new Map<string, Command[]>();
  const add = (owner: string, commands: readonly Command[]) =>
    groups.set(owner, [...(groups.get(owner) ?? []), ...commands]);
  for (const { owner, bindings } of keyGroups.value.toReversed()) {
    add(
      owner,
      bindings.filter(({ keys }) => !MOVES.has(keys)),
    );
  }
  for (const { owner, list } of sources.value) add(owner, list());
  return [...groups].map(([owner, commands]) => ({ owner, commands }));
}

/**
 * Returns up to `MAX_MATCHES` commands with every word of a query in their label or group. Labels
 * that start with the query come first, then labels with a word that starts with it. Groups follow
 * their best label.
 */
export function matchCommands(groups: readonly CommandGroup[], query: string): CommandGroup[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const start = words.join(" ");
  const rank = ({ label }: Command) => rankOf(label.toLowerCase(), start);
  const bestRank = ({ commands }: CommandGroup) => Math.min(...commands.map(rank));
  const found = groups
    .map(({ owner, commands }) => ({
      owner,
      commands: commands
        .filter((command) => isMatch(owner, command, words))
        .sort((one, other) => rank(one) - rank(other)),
    }))
    .filter(({ commands }) => commands.length > 0)
    .sort((one, other) => bestRank(one) - bestRank(other));
  let left = MAX_MATCHES;
  return found.flatMap(({ owner, commands }) => {
    const shown = commands.slice(0, start === "" ? Math.min(left, MAX_PER_GROUP) : left);
    left -= shown.length;
    return shown.length === 0 ? [] : [{ owner, commands: shown }];
  });
}

/** Without words, matches the commands that are always listed. */
function isMatch(owner: string, { label, needsQuery }: Command, words: readonly string[]): boolean {
  if (words.length === 0) return !needsQuery;
  const text = `${owner} ${label}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

function rankOf(label: string, start: string): number {
  if (label.startsWith(start)) return 0;
  return label.includes(` ${start}`) ? 1 : 2;
}

/**
 * Opens and closes the palette with Ctrl+K or ⌘K, in text boxes too. Without registered commands,
 * leaves these keys to the browser.
 */
export function listenForPalette(): void {
  document.addEventListener("keydown", (event) => {
    if (shortcutKey(event) !== "k" || !(event.ctrlKey || event.metaKey)) return;
    if (event.altKey || event.shiftKey || sources.peek().length === 0) return;
    event.preventDefault();
    paletteOpen.value = !paletteOpen.peek();
  });
}
