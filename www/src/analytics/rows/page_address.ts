import type { AddressChange } from "../../shell/address.ts";
import { linkTo } from "../../shell/navigation.ts";

export function pageChange(path: string): AddressChange {
  return { route: "views", analytics: { page: path } };
}

/**
 * Returns a function that formats links to pages. The rest of the address is formatted once,
 * because a table can have 1,000 links.
 */
export function pageLinks(): (path: string) => string {
  const start = linkTo({ route: "views", analytics: { page: null } });
  return (path) => `${start}&page=${encodeURIComponent(path)}`;
}
