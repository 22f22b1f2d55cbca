import { type Signal, signal } from "@preact/signals";
import type { Applied, Entry } from "../../session/person_data.ts";
import type { Session } from "../../session/session.ts";

interface SiteAddress {
  site: Signal<string | null>;
  entry: Entry;
}

const addresses = new WeakMap<Session, SiteAddress>();

/**
 * Returns the address of the project's site. The person enters it in this tab, or adds a sitemap that
 * names it. It is not part of the page's address, because the sender of a link must not choose where
 * paths lead.
 */
export function siteOf(session: Session): string | null {
  return addressOf(session).site.value;
}

export function chooseSite(session: Session, chosen: string | null): Applied {
  const { site, entry } = addressOf(session);
  site.value = chosen;
  if (chosen !== null) return entry.write(chosen);
  entry.remove();
  return "stored";
}

function addressOf(session: Session): SiteAddress {
  const known = addresses.get(session);
  if (known !== undefined) return known;
  const entry = session.data.entry("site", session.projectId);
  const stored = entry.read();
  const opened = { site: signal(typeof stored === "string" ? stored : null), entry };
  addresses.set(session, opened);
  return opened;
}
