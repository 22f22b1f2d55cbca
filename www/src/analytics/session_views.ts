import { untracked } from "@preact/signals";
import type { Session } from "../session/session.ts";
import { recall, remember } from "../session/tab_storage.ts";
import { ListingCache } from "./listing_cache.ts";

const caches = new WeakMap<Session, ListingCache>();

/** Returns the report listings of a session's project. */
export function viewsOf(session: Session): ListingCache {
  return caches.get(session) ?? untracked(() => openCache(session));
}

function openCache(session: Session): ListingCache {
  const { client, claims, projectId, end } = session;
  const isArchived = claims.archivedProjects.includes(projectId);
  const cache = new ListingCache(client, end.signal, { recall, remember }, isArchived);
  caches.set(session, cache);
  return cache;
}
