import { now } from "../../shell/clock.ts";
import { keepFocus } from "../../shell/heading.tsx";
import { address, visit } from "../../shell/navigation.ts";
import { ProblemPanel } from "../../shell/problem_panel.tsx";
import { reserveOf } from "../../shell/rate_limit.ts";
import { addDays, type DayRange, isSameRange, periodOf } from "../period/range.ts";
import { today } from "../period/today.ts";
import type { ListingCache } from "../rows/listing_cache.ts";
import {
  answerSentence,
  costLabel,
  costSentence,
  earlierSentence,
  loadedSentence,
  loadLabel,
  requestsLeft,
} from "../rows/partial_notice.ts";
import { expectRequests } from "../rows/remainder.ts";
import type { Report } from "../rows/report.ts";
import { partialList } from "../table/partial_list.ts";
import {
  asksForChanges,
  EarlierProgress,
  type Focusable,
  isEarlierPart,
  loadOn,
  type NoticeProps,
  Progress,
  soFar,
} from "./notices.tsx";
import * as styles from "./part_notices.module.css";

interface RenewalProps extends Pick<NoticeProps, "cache" | "listing"> {
  /** The button that takes the focus when a pressed one disappears. */
  refresh: Focusable;
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
export function Stopped({ listing, answer }: Pick<NoticeProps, "listing" | "answer">) {
  return (
    <div class={styles.notice}>
      <p>Loading stopped.</p>
      <button type="button" onClick={() => loadOn(listing, "small site", answer)}>
        Load
      </button>
    </div>
  );
}

/**
 * Notices about a partly loaded list. Notices about the earlier period come and go, so they are at
 * the top: the bar grows upwards and nothing in it moves.
 */
export function PartNotices(notice: NoticeProps) {
  const { table, answer } = notice;
  const { earlier } = table;
  return (
    <>
      {earlier?.state.value === "loading" && <EarlierProgress earlier={earlier} answer={answer} />}
      {isEarlierPart(table) && asksForChanges(table) && <EarlierNotice {...notice} />}
      <PartialNotice {...notice} />
    </>
  );
}

/** Names the missing rows and the cost of loading them. */
function PartialNotice({ cache, listing, table, answer }: NoticeProps) {
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
          if (left !== 0) loadOn(listing, isScarce ? "all rows" : "rows above reserve", answer);
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
export function EarlierNotice({ cache, listing, table, answer }: NoticeProps) {
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
        onClick={() => loadOn(earlier, "rows above reserve", answer)}
      >
        {costLabel(
          "Load the previous period",
          expectRequests(earlier, cache.knownRows(list.report)),
        )}
      </button>
    </div>
  );
}
