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

/** Returns a typed name in Unicode NFC, without surrounding or repeated spaces. */
export function normalizeName(typed: string): string {
  return typed.trim().replace(/\s+/g, " ").normalize();
}

/** Returns the length of a name in Unicode code points, so that most emoji count as one. */
export function lengthOf(name: string): number {
  return [...name].length;
}

/** Returns a stored view; null if it is invalid. */
export function viewFrom(value: unknown): SavedView | null {
  const { name, search } = Object(value) as Partial<Record<keyof SavedView, unknown>>;
  if (typeof name !== "string" || typeof search !== "string") return null;
  if (name === "" || name !== normalizeName(name) || lengthOf(name) > MAX_NAME) return null;
  return search.length <= MAX_SEARCH && isReport(search) ? { name, search } : null;
}

function isReport(search: string): boolean {
  return ![null, "jobs"].includes(requestedRoute(search));
}
