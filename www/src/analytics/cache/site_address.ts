import { signal } from "@preact/signals";
import { recall, remember } from "../../session/tab_storage.ts";

const STORED = "site-addresses";

/**
 * The site address of each project. The person enters it in this tab, or adds a sitemap that names
 * it. It is not part of the page's address, because the sender of a link must not choose where
 * paths lead.
 */
const sites = signal(readSites(recall(STORED)));

export function siteOf(projectId: string): string | null {
  return sites.value[projectId] ?? null;
}

export function chooseSite(projectId: string, site: string | null): void {
  const { [projectId]: _, ...others } = sites.peek();
  sites.value = site === null ? others : { ...others, [projectId]: site };
  remember(STORED, sites.peek());
}

function readSites(kept: unknown): Record<string, string> {
  if (typeof kept !== "object" || kept === null) return {};
  return Object.fromEntries(Object.entries(kept).filter(([, site]) => typeof site === "string"));
}
