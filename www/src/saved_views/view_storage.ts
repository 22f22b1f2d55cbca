import {
  onStoredElsewhere,
  readStored,
  removeStored,
  store,
  storedKeys,
} from "../shell/local_storage.ts";
import { requestedRoute } from "../shell/route_names.ts";

/** A named report: its route, period, comparison, interval, arrangement, filters and order. */
export interface SavedView {
  name: string;
  /** The report's address without the project. A preset period stays relative. */
  search: string;
}

/** The maximum number of views of a person in a project. */
export const MAX_VIEWS = 30;
/** The maximum number of characters of a name. */
export const MAX_NAME = 60;
/** The maximum length of an address. */
export const MAX_SEARCH = 2000;

/** Signing out deletes all views, like drafts. */
const PREFIX = "quillgate.views.";

/** Returns the stored views. Skips entries that are invalid, repeated or beyond the maximum. */
export function readViews(owner: string): SavedView[] {
  const stored = readStored(PREFIX + owner);
  const views: SavedView[] = [];
  for (const entry of Array.isArray(stored) ? stored : []) {
    if (!isView(entry) || findView(views, entry.name)) continue;
    views.push({ name: entry.name, search: entry.search });
  }
  return views.slice(0, MAX_VIEWS);
}

/** Stores the views. Returns whether that worked. */
export function storeViews(owner: string, views: readonly SavedView[]): boolean {
  return store(PREFIX + owner, views);
}

/** Calls `changed` when another tab changes the views. */
export function onViewsStoredElsewhere(
  owner: string,
  changed: () => void,
  ended: AbortSignal,
): void {
  const own = PREFIX + owner;
  const check = (key: string) => {
    if (key === own) changed();
  };
  onStoredElsewhere(own, check, ended);
}

/** Returns the view with a name, ignoring case. */
export function findView(views: readonly SavedView[], name: string): SavedView | undefined {
  return views.find((view) => view.name.toLowerCase() === name.toLowerCase());
}

/** Returns a typed name in Unicode NFC, without surrounding or repeated spaces. */
export function normalizeName(typed: string): string {
  return typed.trim().replace(/\s+/g, " ").normalize();
}

/** Returns the length of a name in Unicode code points, so that most emoji count as one. */
export function lengthOf(name: string): number {
  return [...name].length;
}

/** Returns the number of stored views of all projects. */
export function countViews(): number {
  const owners = storedKeys(PREFIX).map((key) => key.slice(PREFIX.length));
  return owners.reduce((sum, owner) => sum + readViews(owner).length, 0);
}

/** Deletes the views of all projects. */
export function forgetViews(): void {
  for (const key of storedKeys(PREFIX)) removeStored(key);
}

function isView(entry: unknown): entry is SavedView {
  const { name, search } = Object(entry) as Partial<Record<keyof SavedView, unknown>>;
  if (typeof name !== "string" || typeof search !== "string") return false;
  if (name === "" || name !== normalizeName(name) || lengthOf(name) > MAX_NAME) return false;
  return search.length <= MAX_SEARCH && isReport(search);
}

function isReport(search: string): boolean {
  return ![null, "jobs"].includes(requestedRoute(search));
}
