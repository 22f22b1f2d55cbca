import type { ComponentChildren, RefObject } from "preact";
import { announce } from "../../shell/announcer.tsx";
import { currentTime } from "../../shell/clock_skew.ts";
import { defer } from "../../shell/deferred.tsx";
import { keepFocus } from "../../shell/heading.tsx";
import { LoadFailure } from "../../shell/load_failure.tsx";
import { counted, moment } from "../../shell/wording.ts";
import * as progress from "../export/progress.module.css";
import { needsComparison } from "../rows/arrangement.ts";
import type { Goal, Listing } from "../rows/listing.ts";
import type { ListingCache } from "../rows/listing_cache.ts";
import { matchSentence } from "../rows/match_sentence.ts";
import { expectRequests, requestRange } from "../rows/remainder.ts";
import { repeatedPaths } from "../rows/rows.ts";
import type { TableModel } from "../table/table_model.ts";
import * as styles from "./notices.module.css";

const loadParts = () => import("./part_notices.tsx");
const Failure = () => (
  <>
    <p>Not everything is loaded.</p>
    <LoadFailure />
  </>
);
export const Renewal = defer(async () => (await loadParts()).Renewal);
const Stopped = defer(async () => (await loadParts()).Stopped, undefined, Failure);
const PartNotices = defer(async () => (await loadParts()).PartNotices, undefined, Failure);
export const EarlierNotice = defer(
  async () => (await loadParts()).EarlierNotice,
  undefined,
  Failure,
);

export interface NoticeProps {
  cache: ListingCache;
  listing: Listing;
  table: TableModel;
  /** The section that takes the focus when a pressed button disappears. */
  answer: Focusable;
}

/** The id of the bar with the notices. */
export const BAR_ID = "answer-bar";

export type Focusable = RefObject<HTMLElement | null>;

interface ProgressProps {
  label: string;
  children: ComponentChildren;
  onCancel(): void;
}

/** Shows that something is loading, with a button to cancel it. */
export function Progress({ label, children, onCancel }: ProgressProps) {
  return (
    <div class={progress.progress}>
      <progress aria-label={label} />
      <p>{children}</p>
      <button type="button" onClick={onCancel}>
        Cancel
      </button>
    </div>
  );
}

function stopLoading(listing: Listing, next: Focusable): void {
  listing.stop();
  announce("Loading stopped");
  keepFocus(next);
}

/**
 * Loads rows, and announces when all rows are loaded or only the reserve is left. Moves the focus
 * to `next` if the pressed button or the Cancel button disappears.
 */
export async function loadOn(listing: Listing, goal: Goal, next?: Focusable): Promise<void> {
  keepFocus(next);
  const isLoaded = await listing.load(goal);
  const { one, many } = listing.report;
  const rows = counted(listing.rows.peek().length, one, many);
  if (listing.state.peek() === "complete") announce(`All ${rows} loaded`);
  else if (isLoaded && goal === "rows above reserve") {
    announce(`${rows} loaded. The last requests are kept for others in your organization.`);
  }
  keepFocus(next);
}

/** Warns when the gateway could only serve cached rows. */
export function StaleNote({ listing }: { listing: Listing }) {
  const staleness = listing.staleness.value;
  if (staleness === null) return null;
  const why =
    staleness.why === "no answer" ? "Mintlify did not answer" : "No analytics requests are left";
  return (
    <p class="notice" role="status">
      <span>
        <strong>As of {moment(staleness.asOf, currentTime())}.</strong> {why}, so these are cached
        counts. Refresh to try again.
      </span>
    </p>
  );
}

/** Marks the end of a complete list. */
export function EndNote({ listing }: { listing: Listing }) {
  const { one, many, main } = listing.report;
  const rows = listing.rows.value;
  if (listing.state.value !== "complete" || rows.length === 0) return null;
  if (listing.isCut.value) {
    const listed = counted(rows.length, one, many);
    return <p class={styles.loadNote}>Mintlify lists only {listed}. There are more.</p>;
  }
  const repeated = main === "total" ? repeatedPaths(rows) : 0;
  return (
    <p class={styles.loadNote}>
      All {counted(rows.length, one, many)}{" "}
      {listing.isFromArchive.value ? "from the daily archive" : "loaded"}.
      {repeated > 0 &&
        ` ${counted(repeated, "row")} ${repeated === 1 ? "repeats" : "repeat"} a path: the list changed while it was loading. Refresh to load it again.`}
    </p>
  );
}

export function soFar({ report, rows, requests }: Listing): string {
  const { one, many } = report;
  return `${counted(rows.value.length, one, many)} in ${counted(requests.value, "request")} so far`;
}

/** Shows the number of matching rows and their sums. */
export function Matches({ listing, table }: Pick<NoticeProps, "listing" | "table">) {
  if (listing.requests.value === 0) return null;
  const isComplete = listing.state.value === "complete";
  const text = matchSentence({ report: listing.report, isComplete, ...table });
  return (
    <p class={styles.matches} role="status">
      {text}
    </p>
  );
}

/**
 * Renders the content of the bar at the window's lower edge: progress, which rows are loaded, and
 * what the rest costs. The bar follows the rows in the layout, so that no row moves when it appears
 * or disappears. Returns null if there is nothing to show.
 */
export function renderBar(notice: NoticeProps): ComponentChildren {
  const { listing, table, answer } = notice;
  const { earlier } = table;
  const state = listing.state.value;
  if (state === "loading") return <LoadProgress {...notice} />;
  if (state === "empty" && listing.problem.value === null)
    return <Stopped listing={listing} answer={answer} />;
  if (state === "partial") return <PartNotices {...notice} />;
  if (earlier?.state.value === "loading")
    return <EarlierProgress earlier={earlier} answer={answer} />;
  return isEarlierPart(table) && asksForChanges(table) ? <EarlierNotice {...notice} /> : null;
}

/** Shows that the comparison is loading. */
export function EarlierProgress({ earlier, answer }: { earlier: Listing; answer: Focusable }) {
  return (
    <Progress label="Loading the previous period" onCancel={() => stopLoading(earlier, answer)}>
      Loading the previous period{earlier.requests.value > 0 && `: ${soFar(earlier)}`}.
    </Progress>
  );
}

function LoadProgress({ cache, listing, answer }: NoticeProps) {
  const { many } = listing.report;
  const expected = expectRequests(listing, cache.knownRows(listing.report));
  const toGo = expected === null ? "" : `, ${requestRange(expected)} to go`;
  return (
    <Progress label={`Loading ${many}`} onCancel={() => stopLoading(listing, answer)}>
      {listing.requests.value > 0
        ? `Loading ${many}: ${soFar(listing)}${toGo}.`
        : `Loading ${many}…`}
    </Progress>
  );
}

/**
 * Returns whether the earlier period is only partly loaded, so that some changes are unknown.
 * Returns false for unread pages, which have no changes.
 */
export function isEarlierPart({ earlier, arrangement }: TableModel): boolean {
  return earlier?.state.value === "partial" && arrangement !== "never-read";
}

/**
 * Returns whether the selection or order depends on changes. A column of changes is not enough.
 */
export function asksForChanges({ arrangement, sorting }: TableModel): boolean {
  return needsComparison(arrangement) || sorting.column === "change";
}
