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

/**
 * The history entries of one person in this tab. Going back to an entry of another era restores no
 * project, filter or open item.
 */
interface Era {
  /** Marks the entries. */
  id: string;
  /** The person who signed in; null before that. */
  owner: string | null;
  /** The address and the mark to which the owner returns after the session has ended. */
  left: { search: string; id: string } | null;
}

let era = createEra(null, null);

/** The query that the page last read or wrote. */
let knownSearch = "";

/** Whether this document was loaded with an address of the era, not with a link. */
let isOwnAddress = false;

/** Returns whether the back or forward button led here. The browser then restores the scrolling. */
export function wasRestored(): boolean {
  return isRestored;
}

/** Reads the address and follows the back and forward buttons. Register all parts first. */
export function followAddress(): void {
  const read = () => {
    knownSearch = location.search;
    address.value = parseAddress(knownSearch);
  };
  readEra();
  isOwnAddress = isOfEra(history.state);
  read();
  if (!isOwnAddress) {
    if (hasGoneBack()) clearAddress("the route");
    else write("replaceState", location.href);
  }
  addEventListener("popstate", ({ state }) => {
    // Following a fragment fires this event too, without a change of the address.
    if (!isOfEra(state) && location.search !== knownSearch) {
      read();
      clearAddress("the route");
      return;
    }
    isRestored = true;
    read();
    if (!isOfEra(state)) write("replaceState", location.href);
  });
}

/** Returns whether an earlier document showed this address to a person. Their session may be over. */
export function isOwnedAddress(): boolean {
  return isOwnAddress && era.owner !== null && era.left === null;
}

/** The part of the current address that stays when an era starts. */
type Kept = "the address" | "the route" | "nothing";

/**
 * Starts an era: going back to an earlier address restores no project, filter or open item, because
 * they belong to the person who was signed in before.
 */
export function startOver(kept: Kept): void {
  beginEra(null, null);
  if (kept === "the address") write("replaceState", location.href);
  else clearAddress(kept);
}

/**
 * Ends the era of a person whose session has ended. They can return to an address that is not kept.
 */
export function leaveEra(kept: "the address" | "nothing"): void {
  const { id, owner, left } = era;
  if (owner === null || left !== null) return;
  if (kept === "the address") {
    startOver(kept);
  } else {
    beginEra(owner, { id, search: location.search });
    clearAddress(kept);
  }
}

/**
 * Makes the era that of the person who has signed in, who returns to the address that they left
 * unless a link was opened since. In the era of another person, starts a new one.
 */
export function claimAddress(person: string, kept: Kept): void {
  const { left } = era;
  if (era.owner !== null && era.owner !== person) startOver(kept);
  else if (left !== null && requestedRoute(location.search) === null) {
    era = { ...era, id: left.id };
    address.value = parseAddress(left.search);
    write("replaceState", left.search);
  }
  era = { ...era, owner: person, left: null };
  tabStorage.write(ERA, era);
}

function readEra(): void {
  const { id, owner = null, left = null } = Object(tabStorage.read(ERA)) as Partial<Era>;
  if (typeof id === "string") era = { id, owner, left };
  else beginEra(null, null);
}

function beginEra(owner: Era["owner"], left: Era["left"]): void {
  era = createEra(owner, left);
  tabStorage.write(ERA, era);
}

function createEra(owner: Era["owner"], left: Era["left"]): Era {
  // `randomUUID` exists only in secure contexts.
  return { id: crypto.getRandomValues(new Uint32Array(4)).join("-"), owner, left };
}

function clearAddress(kept: Exclude<Kept, "the address">): void {
  const { route } = address.peek();
  const isNamed = kept === "the route" && requestedRoute(location.search) !== null;
  address.value = { ...parseAddress(""), ...(kept === "the route" && { route }) };
  write("replaceState", isNamed ? formatAddress(address.peek()) : location.pathname);
}

/** Returns whether the back or forward button loaded this document. */
function hasGoneBack(): boolean {
  const [entry] = performance.getEntriesByType("navigation");
  return (entry as PerformanceNavigationTiming | undefined)?.type === "back_forward";
}

/** Returns whether the state of a history entry is that of the current era. */
function isOfEra(state: unknown): boolean {
  return Object(state).era === era.id;
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
    history[method]({ era: era.id }, "", url);
  } catch {
    // Some browsers limit the rate of history changes. The content changes regardless.
  }
  knownSearch = location.search;
}
