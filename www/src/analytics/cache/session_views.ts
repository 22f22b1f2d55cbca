import { untracked } from "@preact/signals";
import type { Session } from "../../session/session.ts";
import { ListingCache } from "../rows/listing_cache.ts";
import { CountedTrendCache } from "../trend/counted_trend.ts";

const caches = new WeakMap<Session, ListingCache>();
const trends = new WeakMap<Session, CountedTrendCache>();

/** Returns the report listings of a session's project. */
export function viewsOf(session: Session): ListingCache {
  return caches.get(session) ?? untracked(() => openCache(session));
}

function openCache(session: Session): ListingCache {
  const { client, claims, data, projectId, end } = session;
  const isArchived = claims.archivedProjects.includes(projectId);
  const memory = data.entry("ranges", projectId);
  const cache = new ListingCache(client, end.signal, memory, isArchived);
  caches.set(session, cache);
  return cache;
}

/** Returns the session's charts of visitors and searches. */
export function trendsOf(session: Session): CountedTrendCache {
  const { client, end } = session;
  const { limit } = viewsOf(session);
  const opened = trends.get(session) ?? new CountedTrendCache({ client, limit, ended: end.signal });
  trends.set(session, opened);
  return opened;
}
