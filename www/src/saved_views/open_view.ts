import { type Address, formatAddress, parseAddress } from "../shell/address.ts";
import { announce } from "../shell/announcer.tsx";
import { visit } from "../shell/navigation.ts";
import type { SavedView } from "./saved_view.ts";
import { VIEW_WORDS } from "./words.ts";

/** Returns a report's address without the project, the open folders and the open page. */
export function searchOf(address: Address): string {
  const analytics = { ...address.analytics, page: null, openFolders: [] };
  return formatAddress({ ...address, project: null, analytics });
}

/** Opens a saved view in the current project. */
export function openView({ name, search }: SavedView): void {
  const { route, analytics } = parseAddress(search);
  visit({ route, analytics });
  announce(VIEW_WORDS.opened(name));
}
