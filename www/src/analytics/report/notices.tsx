import type { ComponentChildren, RefObject } from "preact";
import { announce } from "../../shell/announcer.tsx";
import { now } from "../../shell/clock.ts";
import { currentTime } from "../../shell/clock_skew.ts";
import { keepFocus } from "../../shell/follow_focus.ts";
import { address, visit } from "../../shell/navigation.ts";
import { ProblemPanel } from "../../shell/problem_panel.tsx";
import { reserveOf } from "../../shell/rate_limit.ts";
import { counted, moment } from "../../shell/wording.ts";
import * as progress from "../export/progress.module.css";
import { addDays, type DayRange, isSameRange, periodOf } from "../period/range.ts";
import { today } from "../period/today.ts";
import { needsComparison } from "../rows/arrangement.ts";
import type { Goal, Listing } from "../rows/listing.ts";
import type { ListingCache } from "../rows/listing_cache.ts";
import { matchSentence } from "../rows/match_sentence.ts";
import {
  answerSentence,
  costLabel,
  costSentence,
  earlierSentence,
  loadedSentence,
  loadLabel,
  requestsLeft,
} from "../rows/partial_notice.ts";
import { expectRequests, requestRange } from "../rows/remainder.ts";
import type { Report } from "../rows/report.ts";
import { repeatedPaths } from "../rows/rows.ts";
import { partialList } from "../table/partial_list.ts";
import type { TableModel } from "../table/table_model.ts";
import * as styles from "./notices.module.css";

export interface NoticeProps {
  cache: ListingCache;
  listing: Listing;
  table: TableModel;
}

export const BAR_ID = "answer-bar";

interface ProgressProps {
  label: string;
  children: ComponentChildren;
  onCancel(): void;
}

/** Shows that something is loading, with a button to cancel it. */
function Progress({ label, children, onCancel }: ProgressProps) {
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

function stopLoading(listing: Listing): void {
  listing.stop();
  announce("Loading stopped");
}

/** Loads rows, and announces when all rows are loaded or only the reserve is left. */
export async function loadOn(listing: Listing, goal: Goal): Promise<void> {
  const isLoaded = await listing.load(goal);
  const { one, many } = listing.report;
  const rows = counted(listing.rows.peek().length, one, many);
  if (listing.state.peek() === "complete") announce(`All ${rows} loaded`);
  else if (isLoaded && goal === "rows above reserve") {
    announce(`${rows} loaded. The last requests are kept for others in your organization.`);
  }
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

function soFar({ report, rows, requests }: Listing): string {
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
  const { listing, table } = notice;
  const { earlier } = table;
  const state = listing.state.value;
  if (state === "loading") return <LoadProgress {...notice} />;
  if (state === "empty" && listing.problem.value === null) return <Stopped listing={listing} />;
  if (state === "partial") return <PartNotices {...notice} />;
  if (earlier?.state.value === "loading") return <EarlierProgress earlier={earlier} />;
  return isEarlierPart(table) && asksForChanges(table) ? <EarlierNotice {...notice} /> : null;
}

/** Shows that the comparison is loading. */
function EarlierProgress({ earlier }: { earlier: Listing }) {
  return (
    <Progress label="Loading the previous period" onCancel={() => stopLoading(earlier)}>
      Loading the previous period{earlier.requests.value > 0 && `: ${soFar(earlier)}`}.
    </Progress>
  );
}

function LoadProgress({ cache, listing }: NoticeProps) {
  const { many } = listing.report;
  const expected = expectRequests(listing, cache.knownRows(listing.report));
  const toGo = expected === null ? "" : `, ${requestRange(expected)} to go`;
  return (
    <Progress label={`Loading ${many}`} onCancel={() => stopLoading(listing)}>
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

interface RenewalProps extends Pick<NoticeProps, "cache" | "listing"> {
  /** The button that takes the focus when a pressed one disappears. */
  refresh: RefObject<HTMLElement | null>;
}

/** Shows the progress of a refresh, or its problem. The previous rows stay. */
export function Renewal({ cache, listing, refresh }: RenewalProps) {
  const renewal = cache.renewal.value;
  if (renewal === null || renewal.report !== listing.report) return null;
  const problem = renewal.problem.value;
  const stop = () => {
    cache.stopRenewal();
    keepFocus(refresh);
  };
  if (problem) {
    return (
      <div class={styles.renewal}>
        <ProblemPanel
          problem={problem}
          retryLabel="Refresh again"
          onRetry={() => cache.refresh(listing).then(() => keepFocus(refresh))}
        />
        <button type="button" class="quiet" onClick={stop}>
          Keep these rows
        </button>
      </div>
    );
  }
  if (renewal.state.value !== "loading") return null;
  return (
    <Progress label="Refreshing" onCancel={stop}>
      Refreshing: {soFar(renewal)}. The previous rows stay until it’s done.
    </Progress>
  );
}

/** Shows that the person stopped loading before the first rows arrived. */
function Stopped({ listing }: Pick<NoticeProps, "listing">) {
  return (
    <div class={styles.notice}>
      <p>Loading stopped.</p>
      <button type="button" onClick={() => loadOn(listing, "small site")}>
        Load
      </button>
    </div>
  );
}

/**
 * Notices about a partly loaded list. Notices about the earlier period come and go, so they are at
 * the top: the bar grows upwards and nothing in it moves.
 */
function PartNotices(notice: NoticeProps) {
  const { table } = notice;
  const { earlier } = table;
  return (
    <>
      {earlier?.state.value === "loading" && <EarlierProgress earlier={earlier} />}
      {isEarlierPart(table) && asksForChanges(table) && <EarlierNotice {...notice} />}
      <PartialNotice {...notice} />
    </>
  );
}

/** Names the missing rows and the cost of loading them. */
function PartialNotice({ cache, listing, table }: NoticeProps) {
  const list = partialList(listing, table);
  const limit = listing.limit.value;
  const time = now.value;
  const left = limit === null ? null : requestsLeft(limit, time);
  const isScarce = limit !== null && left !== null && left <= reserveOf(limit);
  return (
    <div class={styles.notice}>
      <p>
        {loadedSentence(list)} {answerSentence(list)}{" "}
        <span class={isScarce ? "" : styles.detail}>
          {costSentence(expectRequests(listing, cache.knownRows(list.report)), limit, time)}
        </span>
      </p>
      <button
        type="button"
        aria-disabled={left === 0}
        onClick={() => {
          if (left !== 0) loadOn(listing, isScarce ? "all rows" : "rows above reserve");
        }}
      >
        {loadLabel(list.report, limit, time)}
      </button>
      <WholeDays cache={cache} range={table.range} report={list.report} />
    </div>
  );
}

interface WholeDaysProps {
  cache: ListingCache;
  range: DayRange;
  report: Report;
}

/**
 * Offers the period without today if the archive has the other days. The archive has only ended
 * days.
 */
function WholeDays({ cache, range: { from, to }, report }: WholeDaysProps) {
  const yesterday = addDays(today.value, -1);
  const archived = cache.endedDays.value;
  // The chart may still be that of another range.
  const isArchived = archived !== null && isSameRange(archived, { from, to: yesterday });
  if (!isArchived || report.name !== "views" || to <= yesterday) return null;
  const leaveOutToday = () => {
    const before = address.peek().analytics.range;
    const range = periodOf({ from, to: yesterday }, today.value, before);
    visit({ analytics: { range } });
  };
  return (
    <button type="button" class="quiet" onClick={leaveOutToday}>
      Leave out today to see all {report.many}
    </button>
  );
}

/** Explains missing changes. A change is known only if the earlier row is loaded too. */
export function EarlierNotice({ cache, listing, table }: NoticeProps) {
  const { earlier } = table;
  if (earlier === null) return null;
  const list = partialList(earlier, table);
  const isAsked = asksForChanges(table);
  return (
    <div class={`${styles.notice} ${isAsked ? "" : styles.quietNotice}`}>
      <p>{earlierSentence(listing.report, list.loaded, isAsked)}</p>
      <button
        type="button"
        class={isAsked ? "" : "quiet"}
        onClick={() => loadOn(earlier, "rows above reserve")}
      >
        {costLabel(
          "Load the previous period",
          expectRequests(earlier, cache.knownRows(list.report)),
        )}
      </button>
    </div>
  );
}
