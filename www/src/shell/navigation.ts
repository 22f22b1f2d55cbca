import { signal } from "@preact/signals";
import {
  type Address,
  type AddressChange,
  changeAddress,
  formatAddress,
  parseAddress,
} from "./address.ts";
import { requestedRoute } from "./route_names.ts";
import { keyOf, tabStorage } from "./storage.ts";

/** The page's address. */
export const address = signal<Address>(parseAddress(""));

let isRestored = false;

/** Where the tab keeps its era, which outlasts the document. */
export const ERA = keyOf("era");

/** Marks the history entries of the current session; null for those of the first one. */
let era: string | null = null;

/** Returns whether the back or forward button led here. The browser then restores the scrolling. */
export function wasRestored(): boolean {
  return isRestored;
}

/** Reads the address and follows the back and forward buttons. Register all parts first. */
export function followAddress(): void {
  const read = () => {
    address.value = parseAddress(location.search);
  };
  const kept = tabStorage.read(ERA);
  era = typeof kept === "string" ? kept : null;
  read();
  if (eraOf(history.state) !== era) {
    if (hasGoneBack()) clearAddress();
    else write("replaceState", location.href);
  }
  addEventListener("popstate", ({ state }) => {
    // Following a fragment fires this event too, without a change of the address.
    if (eraOf(state) !== era && location.search !== formatAddress(address.peek())) {
      clearAddress();
      return;
    }
    isRestored = true;
    read();
    if (eraOf(state) !== era) write("replaceState", location.href);
  });
}

/**
 * Starts an era: going back to an earlier address restores no project, filter or open item, because
 * they belong to the person who was signed in before. Can clear the current address, too.
 */
export function startOver(how: "clear the address" | "keep the address"): void {
  era = crypto.randomUUID();
  tabStorage.write(ERA, era);
  if (how === "clear the address") clearAddress();
  else write("replaceState", location.href);
}

function clearAddress(): void {
  const { route } = address.peek();
  const isNamed = requestedRoute(location.search) !== null;
  address.value = { ...parseAddress(""), route };
  write("replaceState", isNamed ? formatAddress(address.peek()) : location.pathname);
}

/** Returns whether the back or forward button loaded this document. */
function hasGoneBack(): boolean {
  const [entry] = performance.getEntriesByType("navigation");
  return (entry as PerformanceNavigationTiming | undefined)?.type === "back_forward";
}

function eraOf(state: unknown): string | null {
  const { era } = Object(state) as { era?: unknown };
  return typeof era === "string" ? era : null;
}

/** Opens another address with a new history entry. */
export function visit(change: AddressChange): void {
  move(change, "pushState");
}

/** Changes the current address without a new history entry. */
export function adjust(change: AddressChange): void {
  move(change, "replaceState");
}

/** Returns the address after a change, for the `href` of a link. */
export function linkTo(change: AddressChange): string {
  return formatAddress(changeAddress(address.value, change));
}

/** Follows a link within the page. Leaves "open in a new tab" and the like to the browser. */
export function followLink(event: MouseEvent, change: AddressChange): void {
  if (event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  visit(change);
}

function move(change: AddressChange, method: HistoryMethod): void {
  const next = changeAddress(address.peek(), change);
  const search = formatAddress(next);
  isRestored = false;
  if (search !== location.search) write(method, search);
  address.value = next;
}

type HistoryMethod = "pushState" | "replaceState";

function write(method: HistoryMethod, url: string): void {
  try {
    history[method](era === null ? null : { era }, "", url);
  } catch {
    // Some browsers limit the rate of history changes. The content changes regardless.
  }
}
