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

/** Reads the address, once its parts are registered, and follows the back and forward buttons. */
export function followAddress(): void {
  const read = () => {
    address.value = parseAddress(location.search);
  };
  read();
  addEventListener("popstate", read);
}

/** Goes to another place, which the back button undoes. */
export function visit(change: AddressChange): void {
  move(change, "pushState");
}

/** Adjusts the current place, without a step for the back button. */
export function adjust(change: AddressChange): void {
  move(change, "replaceState");
}

/** The address of another place, for a link that can be copied or opened in a new tab. */
export function linkTo(change: AddressChange): string {
  return formatAddress(changeAddress(address.value, change));
}

/** Follows a link within the page; "open in a new tab" and the like are left to the browser. */
export function followLink(event: MouseEvent, change: AddressChange): void {
  if (event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  visit(change);
}

function move(change: AddressChange, method: "pushState" | "replaceState"): void {
  const next = changeAddress(address.peek(), change);
  const search = formatAddress(next);
  try {
    if (search !== location.search) history[method](null, "", search);
  } catch {
    // Some browsers allow so many changes in a time: what is shown changes all the same.
  }
  address.value = next;
}
