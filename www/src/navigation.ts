import { signal } from "@preact/signals";
import { type Address, formatAddress, parseAddress } from "./address.ts";

/** The page's address; the browser's back and forward buttons change it too. */
export const address = signal<Address>(parseAddress(location.search));

addEventListener("popstate", () => {
  address.value = parseAddress(location.search);
});

/** Goes to another place, which the back button undoes. */
export function visit(change: Partial<Address>): void {
  move(change, "pushState");
}

/** Adjusts the current place, without a step for the back button. */
export function adjust(change: Partial<Address>): void {
  move(change, "replaceState");
}

function move(change: Partial<Address>, method: "pushState" | "replaceState"): void {
  const next = { ...address.peek(), ...change };
  const search = formatAddress(next);
  if (search !== location.search) history[method](null, "", search);
  address.value = next;
}
