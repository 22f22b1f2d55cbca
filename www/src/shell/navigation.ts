import { signal } from "@preact/signals";
import {
  type Address,
  type AddressChange,
  changeAddress,
  formatAddress,
  parseAddress,
} from "./address.ts";

/** The page's address. */
export const address = signal<Address>(parseAddress(""));

let isRestored = false;

/** Returns whether the back or forward button led here. The browser then restores the scrolling. */
export function wasRestored(): boolean {
  return isRestored;
}

/** Reads the address and follows the back and forward buttons. Register all parts first. */
export function followAddress(): void {
  const read = () => {
    address.value = parseAddress(location.search);
  };
  read();
  addEventListener("popstate", () => {
    isRestored = true;
    read();
  });
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

function move(change: AddressChange, method: "pushState" | "replaceState"): void {
  const next = changeAddress(address.peek(), change);
  const search = formatAddress(next);
  isRestored = false;
  try {
    if (search !== location.search) history[method](null, "", search);
  } catch {
    // Some browsers limit the rate of history changes. The content changes regardless.
  }
  address.value = next;
}
