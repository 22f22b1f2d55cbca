/**
 * The reports that *Today* reads. A cold start costs at most {@link MAX_REQUESTS} requests of the
 * organization's hourly limit. Loaded and archived reports cost none.
 */
import { viewsOf } from "../analytics/cache/session_views.ts";
import type { Day } from "../analytics/period/address_words.ts";
import { addDays, type DayRange, presetRange } from "../analytics/period/range.ts";
import { today } from "../analytics/period/today.ts";
import { compareRows } from "../analytics/rows/comparison.ts";
import type { Goal, Listing } from "../analytics/rows/listing.ts";
import type { ListingCache } from "../analytics/rows/listing_cache.ts";
import { REPORTS, type ReportRow } from "../analytics/rows/report.ts";
import { numberOf, textOf } from "../analytics/rows/rows.ts";
import { hasNoClicks } from "../analytics/rows/search_clicks.ts";
import { groupQuestions, groupTerms } from "../analytics/rows/text_groups.ts";
import { allows } from "../session/claims.ts";
import type { Session } from "../session/session.ts";
import { MAX_ROWS } from "./today_jobs.ts";

export const MAX_REQUESTS = 3;
/** Views of this and of the earlier period. */
const REQUESTS_OF_FALLS = 2;

/** The reports that one request each fills, most useful first. */
const SINGLE_REPORTS = [REPORTS.conversations, REPORTS.searches, REPORTS.feedback] as const;
export type SingleReport = (typeof SINGLE_REPORTS)[number];

const RECENT_DAYS = 28;

/** Returns the days of questions, searches and feedback: the same as on their own routes. */
export function recentDays(): DayRange {
  return presetRange(`last-${RECENT_DAYS}-days`, today.value);
}

/** Returns the days of views. The archive has no running day. */
export function daysOfViews(cache: ListingCache): DayRange {
  const range = recentDays();
  if (!cache.isArchived) return range;
  return { from: addDays(range.from, -1), to: addDays(range.to, -1) };
}

/** Returns as many days before those of views, even if those are a whole month. */
export function earlierDaysOfViews(cache: ListingCache): DayRange {
  const { from, to } = daysOfViews(cache);
  return { from: addDays(from, -RECENT_DAYS), to: addDays(to, -RECENT_DAYS) };
}

/** The day for which a session has loaded. */
const started = new WeakMap<Session, Day>();

/**
 * Requests what is missing, within the limit. Does so once a day, because each visit would add to it.
 * Later visits only resume what the first one left unfinished.
 */
export function loadToday(session: Session): void {
  const cache = viewsOf(session);
  if (started.get(session) === today.value) {
    resumeToday(cache);
    return;
  }
  started.set(session, today.value);
  cache.dropOutdated();
  let left = MAX_REQUESTS;
  if (allows(session.claims, "analytics:read")) {
    if (!cache.isArchived) left -= costOfFalls(cache);
    loadFalls(cache, cache.isArchived ? "archived rows" : "first rows");
  }
  for (const report of SINGLE_REPORTS) {
    const isLoaded = cache.find(report, recentDays()) !== null;
    if (left === 0 || isLoaded || !allows(session.claims, report.scope)) continue;
    left -= 1;
    loadReport(cache, report);
  }
}

function resumeToday(cache: ListingCache): void {
  const now = cache.find(REPORTS.views, daysOfViews(cache));
  now?.resume();
  if (now !== null) cache.findEarlier(now, earlierDaysOfViews(cache))?.resume();
  for (const report of SINGLE_REPORTS) cache.find(report, recentDays())?.resume();
}

export function loadReport(cache: ListingCache, report: SingleReport): void {
  cache.openBeside(report, recentDays(), "first rows");
}

/** Loads the views of both periods. */
export async function loadFalls(cache: ListingCache, goal: Goal = "first rows"): Promise<void> {
  const range = daysOfViews(cache);
  const now =
    cache.find(REPORTS.views, range) ?? (await cache.openBeside(REPORTS.views, range, goal));
  const earlierDays = earlierDaysOfViews(cache);
  const earlier =
    now.requests.peek() > 0 && cache.findEarlier(now, earlierDays) === null
      ? await cache.openEarlier(now, earlierDays, goal)
      : null;
  // The archive lacks a day.
  for (const listing of [now, earlier]) {
    if (listing?.state.peek() === "empty" && listing.problem.peek() === null) {
      cache.forget(listing);
    }
  }
}

/** Returns how many requests the views of both periods cost without an archive. */
function costOfFalls(cache: ListingCache): number {
  const now = cache.find(REPORTS.views, daysOfViews(cache));
  if (now === null) return REQUESTS_OF_FALLS;
  return cache.findEarlier(now, earlierDaysOfViews(cache)) === null ? 1 : 0;
}

export type Section =
  | { state: "loading" }
  /** Not loaded yet. Loading costs up to `requests`. */
  | { state: "not loaded"; requests: number }
  | { state: "failed"; listing: Listing }
  | {
      state: "loaded";
      rows: readonly ReportRow[];
      /** The number of rows among which these were found if there may be more; null for all. */
      among: number | null;
    };

/** Returns the pages that lost most readers. */
export function fallsOf(cache: ListingCache): Section {
  const now = cache.find(REPORTS.views, daysOfViews(cache));
  const earlier = now === null ? null : cache.findEarlier(now, earlierDaysOfViews(cache));
  for (const listing of [now, earlier]) {
    const section = unloaded(listing, REQUESTS_OF_FALLS);
    if (section !== null) return section;
  }
  if (now === null || earlier === null) return { state: "loading" };
  const rows = compareRows(loadedPart(now), loadedPart(earlier), { key: "path", compared: "human" })
    .filter((row) => numberOf(row.change) < 0 && textOf(row.path) !== null)
    .sort((a, b) => numberOf(a.change) - numberOf(b.change));
  return { state: "loaded", rows: rows.slice(0, MAX_ROWS), among: loadedOf([now, earlier]) };
}

export function unansweredOf(cache: ListingCache): Section {
  return sectionOf(cache, REPORTS.conversations, (rows) =>
    groupQuestions(rows.filter(({ answer }) => answer === "unanswered")),
  );
}

export function clicklessOf(cache: ListingCache): Section {
  return sectionOf(cache, REPORTS.searches, (rows) =>
    groupTerms(rows).filter((row) => hasNoClicks(row) && numberOf(row.hits) > 0),
  );
}

/** Returns the feedback of readers who were not helped, newest first, as Mintlify lists it. */
export function unhelpfulOf(cache: ListingCache): Section {
  return sectionOf(cache, REPORTS.feedback, (rows) =>
    rows.filter(({ helpful, path }) => helpful === "No" && textOf(path ?? null) !== null),
  );
}

function sectionOf(
  cache: ListingCache,
  report: SingleReport,
  select: (rows: readonly ReportRow[]) => readonly ReportRow[],
): Section {
  const listing = cache.find(report, recentDays());
  const section = unloaded(listing, 1);
  if (section !== null) return section;
  if (listing === null) return { state: "loading" };
  const rows = select(listing.rows.value).slice(0, MAX_ROWS);
  return { state: "loaded", rows, among: loadedOf([listing]) };
}

/** Returns the section of a listing without rows; null if it has rows. */
function unloaded(listing: Listing | null, requests: number): Section | null {
  if (listing === null) return { state: "not loaded", requests };
  if (listing.requests.value > 0) return null;
  if (listing.problem.value !== null) return { state: "failed", listing };
  return listing.state.value === "loading"
    ? { state: "loading" }
    : { state: "not loaded", requests };
}

function loadedPart({ rows, state }: Listing) {
  return { rows: rows.value, isComplete: state.value === "complete" };
}

/** Returns the number of rows that are loaded of each listing; null if all are complete. */
function loadedOf(listings: readonly Listing[]): number | null {
  const partial = listings.filter(({ state }) => state.value !== "complete");
  return partial.length === 0 ? null : Math.min(...partial.map(({ rows }) => rows.value.length));
}
