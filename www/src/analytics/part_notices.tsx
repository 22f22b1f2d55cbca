import { ProblemPanel } from "../shell/problem_panel.tsx";
import { limitNote } from "../shell/wording.ts";
import type { Listing } from "./listing.ts";
import type { ListingCache } from "./listing_cache.ts";
import {
  asksForChanges,
  EarlierProgress,
  isEarlierPart,
  keepFocus,
  loadOn,
  type NoticeProps,
  Progress,
  soFar,
} from "./notices.tsx";
import {
  answerSentence,
  costLabel,
  earlierSentence,
  estimateRequests,
  loadedSentence,
  missingSentence,
  type PartialList,
} from "./partial_notice.ts";
import { remainderOf } from "./sums.ts";
import type { TableModel } from "./table_model.ts";

/** What Refresh is doing, while the rows from before stay. */
export function Renewal({ cache, listing }: Omit<NoticeProps, "table">) {
  const renewal = cache.renewal.value;
  if (renewal === null || renewal.report !== listing.report) return null;
  const problem = renewal.problem.value;
  const stop = () => {
    cache.stopRenewal();
    keepFocus(".refresh");
  };
  if (problem) {
    return (
      <div class="renewal">
        <ProblemPanel
          problem={problem}
          retryLabel="Refresh again"
          onRetry={() => cache.refresh(listing).then(() => keepFocus())}
        />
        <button type="button" class="quiet" onClick={stop}>
          Keep what is shown
        </button>
      </div>
    );
  }
  if (renewal.state.value !== "loading") return null;
  return (
    <Progress label="Refreshing" onCancel={stop}>
      Refreshing: {soFar(renewal)}. Until then you see the rows from before.
    </Progress>
  );
}

/** That somebody has stopped the loading before there were rows. */
export function Stopped({ listing }: { listing: Listing }) {
  return (
    <div class="partial">
      <p>Loading was stopped.</p>
      <button type="button" onClick={() => loadOn(listing, "small site")}>
        Load
      </button>
    </div>
  );
}

/**
 * What is known of rows that are a part. What comes and goes with the earlier period stands above:
 * the bar grows upwards, and nothing in it moves.
 */
export function PartNotices(notice: NoticeProps) {
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

/** Says that some rows are missing, and what they cost. On phones it keeps its height when totals arrive. */
function PartialNotice({ cache, listing, table }: NoticeProps) {
  const list = partialList(listing, table);
  const limit = listing.limit.value;
  return (
    <div class="partial">
      <p>
        <strong>{answerSentence(list)}</strong> {loadedSentence(list)}{" "}
        <span class="partial-detail">
          {missingSentence(list)}{" "}
          {limit ? limitNote(limit, "request") : "At most 100 requests an hour."}
        </span>
      </p>
      <button type="button" onClick={() => loadOn(listing, "all rows")}>
        {costLabel("Load the rest", list.remainder, expected(cache, list))}
      </button>
    </div>
  );
}

/** A change is known only where the earlier row is loaded as well. */
export function EarlierNotice({ cache, listing, table }: NoticeProps) {
  const { earlier } = table;
  if (earlier === null) return null;
  const list = partialList(earlier, table);
  const isAsked = asksForChanges(table);
  return (
    <div class={isAsked ? "partial" : "partial partial-quiet"}>
      <p>{earlierSentence(listing.report, list.loaded, isAsked)}</p>
      <button
        type="button"
        class={isAsked ? "" : "quiet"}
        onClick={() => loadOn(earlier, "all rows")}
      >
        {costLabel("Load the earlier period", list.remainder, expected(cache, list))}
      </button>
    </div>
  );
}

function partialList(listing: Listing, table: TableModel): PartialList {
  const { report } = listing;
  const rows = listing.rows.value;
  const whole = report.isAdditive ? (listing.totals.value?.total ?? null) : null;
  const remainder = remainderOf(whole, rows, report.main ?? "total", report.pageSize);
  const { arrangement, sorting, filter } = table;
  return { report, loaded: rows.length, remainder, arrangement, sorting, filter };
}

function expected(cache: ListingCache, list: PartialList): number | null {
  return estimateRequests(list, cache.estimateRows(list.report));
}
