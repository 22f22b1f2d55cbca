import { effect, type Signal, untracked, useSignal } from "@preact/signals";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { allows } from "../../session/claims.ts";
import { ScopeNotice } from "../../session/scope_notice.tsx";
import type { Session } from "../../session/session.ts";
import { announce } from "../../shell/announcer.tsx";
import { defer, deferDialog } from "../../shell/deferred.tsx";
import { registerKeys } from "../../shell/keys.ts";
import { Later } from "../../shell/later.tsx";
import { address, adjust, visit } from "../../shell/navigation.ts";
import type { Problem } from "../../shell/problem.ts";
import { ProblemPanel } from "../../shell/problem_panel.tsx";
import { counted } from "../../shell/wording.ts";
import { trendsOf, viewsOf } from "../cache/session_views.ts";
import { chooseSite, siteOf } from "../cache/site_address.ts";
import type { Arrangement } from "../period/address_words.ts";
import { stepPeriod } from "../period/period_picker.tsx";
import { COMPARISONS, type DayRange, PRESETS, rangeLabel } from "../period/range.ts";
import { today } from "../period/today.ts";
import type { Listing } from "../rows/listing.ts";
import type { ListingCache } from "../rows/listing_cache.ts";
import { pageLinks } from "../rows/page_address.ts";
import { archivePrefix } from "../rows/path_filter.ts";
import { REPORTS, type Report, type ReportName, type ReportRow } from "../rows/report.ts";
import type { Sitemap } from "../rows/sitemap.ts";
import { ReportTable } from "../table/report_table.tsx";
import { useTableModel, wantedEarlier, wantedRange } from "../table/table_model.ts";
import { CountedTrendPanel } from "../trend/counted_trend_panel.tsx";
import type { Trend } from "../trend/daily_trend.ts";
import { TrendSpace } from "../trend/trend_space.tsx";
import { ViewsTrend } from "../trend/views_trend.tsx";
import { useArrangementCommands } from "./arrangement_commands.ts";
import { EmptyTable } from "./empty_table.tsx";
import { jobPrompt } from "./job_prompt.ts";
import {
  asksForChanges,
  BAR_ID,
  EarlierNotice,
  EndNote,
  isEarlierPart,
  loadOn,
  Matches,
  type NoticeProps,
  Renewal,
  renderBar,
  StaleNote,
} from "./notices.tsx";
import { type OpenDialog, RangeLine } from "./range_line.tsx";
import * as styles from "./report_route.module.css";
import { idOfRow, type Selection, toggleRow } from "./selection.ts";
import { SelectionBar } from "./selection_bar.tsx";
import { startRowJob } from "./start_row_job.ts";
import { focusFilter, Toolbar } from "./toolbar.tsx";
import { TotalsStrip } from "./totals_strip.tsx";

const SiteDialog = deferDialog(async () => (await import("./site_dialog.tsx")).SiteDialog);
const SitemapDialog = deferDialog(async () => (await import("./sitemap_dialog.tsx")).SitemapDialog);

const RowTrendChart = defer(
  async () => (await import("../trend/row_trend_chart.tsx")).RowTrendChart,
  TrendSpace,
);
const ConversationDialog = deferDialog(
  async () => (await import("../entries/conversation_dialog.tsx")).ConversationDialog,
);
const EntryDialog = deferDialog(
  async () => (await import("../entries/entry_dialog.tsx")).EntryDialog,
);

interface ReportRouteProps {
  session: Session;
  name: ReportName;
  /** The actions that need the scope. */
  lost: string;
}

/** A report with its period, totals, trend, rows and exports. */
export function ReportRoute({ session, name, lost }: ReportRouteProps) {
  const isByPage = name === "feedback" && address.value.analytics.arrangement === "by-page";
  const report = REPORTS[isByPage ? "feedbackByPage" : name];
  if (!allows(session.claims, report.scope)) {
    return <ScopeNotice scope={report.scope} lost={lost} />;
  }
  return <OpenReport key={report.name} session={session} report={report} />;
}

function OpenReport({ session, report }: { session: Session; report: Report }) {
  const cache = viewsOf(session);
  const sitemap = useSignal<Sitemap | null>(null);
  const dialog = useSignal<OpenDialog>(null);
  const selection = useSignal<Selection>(null);
  const refresh = useRef<HTMLButtonElement>(null);
  useOpenListings(cache, report);
  const table = useTableModel(cache, report, sitemap);
  useReportKeys(cache, report);
  const { listing } = table;
  // Rows render before the trend, because they matter most. Once shown, the trend stays.
  const hasAnswer = useRef(false);
  hasAnswer.current ||= (listing?.requests.value ?? 0) > 0 || listing?.problem.value != null;

  function arrange(arrangement: Arrangement) {
    const isAnother = sitemap.peek() === null || table.arrangement === "never-read";
    if (arrangement === "never-read" && isAnother) dialog.value = "sitemap";
    else visit({ analytics: { arrangement, sorting: null } });
  }

  useArrangementCommands(report, arrange);

  function takeSitemap(read: Sitemap) {
    sitemap.value = read;
    cache.sitemapPages.value = read.paths.length;
    if (read.origin !== null && siteOf(session) === null) chooseSite(session, read.origin);
    visit({ analytics: { arrangement: "never-read", sorting: null } });
  }

  function renderTrend() {
    const { range, earlierRange, filter } = table;
    switch (report.name) {
      case "views": {
        const prefix = archivePrefix(filter);
        return (
          <ViewsTrend
            session={session}
            range={range}
            earlierRange={earlierRange}
            subject={prefix === null ? {} : { prefix }}
            isWaiting={!hasAnswer.current}
            onRead={(read) => noteEndedDays(cache, read)}
          />
        );
      }
      case "visitors":
      case "searches":
        return <CountedTrendPanel name={report.name} range={range} trends={trendsOf(session)} />;
      case "feedback":
      case "conversations":
        if (range.from >= today.value) return null;
        if (!hasAnswer.current) return <TrendSpace />;
        return listing && <RowTrendChart listing={listing} table={table} />;
      case "feedbackByPage":
        return null;
    }
  }

  return (
    <div class={`stack ${styles.route}`}>
      <Toolbar
        session={session}
        report={report}
        table={table}
        onArrange={arrange}
        isSelecting={selection.value !== null}
        onSelect={() => {
          selection.value = selection.peek() === null ? new Set() : null;
        }}
      />
      <RangeLine
        session={session}
        report={report}
        table={table}
        dialog={dialog}
        refresh={refresh}
      />
      <InvalidLink range={table.range} />
      {listing && cache.renewal.value && (
        <Renewal cache={cache} listing={listing} refresh={refresh} />
      )}
      {listing && <StaleNote listing={listing} />}
      <TotalsStrip report={report} listing={listing} earlier={table.earlier} />
      <Later>
        {renderTrend()}
        {listing && (
          <Answer
            session={session}
            listing={listing}
            table={table}
            sitemap={sitemap}
            selection={selection}
            onSitemap={() => {
              dialog.value = "sitemap";
            }}
          />
        )}
      </Later>
      {dialog.value === "site" && <SiteDialog session={session} onClose={() => close(dialog)} />}
      {dialog.value === "sitemap" && (
        <SitemapDialog site={siteOf(session)} onRead={takeSitemap} onClose={() => close(dialog)} />
      )}
    </div>
  );
}

function noteEndedDays(cache: ListingCache, trend: Trend): void {
  const isWhole = trend.state === "drawn" && trend.points.every(({ held, days }) => held === days);
  cache.endedDays.value = isWhole ? trend.range : null;
}

function close(dialog: Signal<OpenDialog>): void {
  dialog.value = null;
}

/** Opens the listing of the address, and its comparison once the first rows have arrived. */
export function useOpenListings(cache: ListingCache, report: Report): void {
  // During render rather than in an effect, to avoid a second render.
  useMemo(() => untracked(() => cache.open(report, wantedRange())), [cache, report]);
  useLayoutEffect(() => {
    const stop = effect(() => cache.open(report, wantedRange()));
    return () => {
      stop();
      cache.leave();
    };
  }, [cache, report]);
  useLayoutEffect(
    () =>
      effect(() => {
        const listing = cache.find(report, wantedRange());
        const earlier = wantedEarlier(report);
        if (earlier === null) cache.closeEarlier();
        else if (listing !== null && listing.requests.value > 0) {
          cache.openEarlier(listing, earlier);
        }
      }),
    [cache, report],
  );
}

/** The route with the shortcuts. The route of one page has no filter. */
type KeyTarget = "report" | "one page";

export function useReportKeys(
  cache: ListingCache,
  report: Report,
  target: KeyTarget = "report",
): void {
  useLayoutEffect(() => {
    const periods = PRESETS.map(({ id, label, key }) => ({
      keys: key,
      label,
      needsQuery: true,
      run: () => visit({ analytics: { range: id } }),
    }));
    const refresh = () => {
      const shown = cache.find(report, wantedRange());
      if (shown) cache.refresh(shown);
    };
    const filter = { keys: "/", label: "Filter", run: focusFilter };
    return registerKeys("Analytics", [
      ...(target === "report" ? [filter] : []),
      ...periods,
      { keys: "[", label: "Earlier period", run: () => stepPeriod(-1) },
      { keys: "]", label: "Later period", run: () => stepPeriod(1) },
      { keys: "x", label: "Next comparison", run: nextComparison },
      { keys: "r", label: "Refresh", run: refresh },
    ]);
  }, [cache, report, target]);
}

function nextComparison(): void {
  const { comparison } = address.peek().analytics;
  const at = COMPARISONS.findIndex(({ id }) => id === comparison);
  const next = COMPARISONS[(at + 1) % COMPARISONS.length];
  if (!next) return;
  visit({ analytics: { comparison: next.id } });
  announce(next.id === "none" ? "Comparison off" : `Compared with: ${next.label}`);
}

/** Explains which parts of the link are invalid, and removes them from the address. */
export function InvalidLink({ range }: { range: DayRange }) {
  const { hasInvalidDates, hasInvalidPage, range: period } = address.value.analytics;
  const isFuture = typeof period === "object" && period.from > today.value;
  useLayoutEffect(() => {
    if (hasInvalidDates || hasInvalidPage) adjust({});
  }, [hasInvalidDates, hasInvalidPage]);
  return (
    <>
      {hasInvalidDates && (
        <p class="notice" role="status">
          This link’s dates are not valid. Showing the last 28 days: {rangeLabel(range)}.
        </p>
      )}
      {isFuture && (
        <p class="notice" role="status">
          This link’s dates are in the future. Showing today: {rangeLabel(range)}.
        </p>
      )}
      {hasInvalidPage && (
        <p class="notice" role="status">
          This link’s page is not valid. Showing all pages.
        </p>
      )}
    </>
  );
}

interface AnswerProps extends Omit<NoticeProps, "cache"> {
  session: Session;
  sitemap: Signal<Sitemap | null>;
  selection: Signal<Selection>;
  onSitemap(): void;
}

const LABELS: Record<ReportName, string> = {
  views: "Page views by path",
  visitors: "Visitors by path",
  feedback: "Feedback",
  feedbackByPage: "Feedback by page",
  searches: "Searches by term",
  conversations: "Questions to the assistant",
};

/** The rows and the notices about them. */
function Answer(props: AnswerProps) {
  const { session, listing, table } = props;
  const cache = viewsOf(session);
  const isEmpty = listing.requests.value === 0;
  const problem = listing.problem.value;
  const notice = { cache, listing, table };
  const notices = renderBar(notice);
  const isSelecting = props.selection.value !== null;
  const bar =
    notices === null && !isSelecting ? null : (
      <>
        {isSelecting && <SelectionBar {...props} />}
        {notices}
      </>
    );
  return (
    <section
      class={`stack ${styles.answer} ${bar === null ? "" : styles.open}`}
      aria-label="Rows"
      tabIndex={-1}
    >
      {bar !== null && (
        <div id={BAR_ID} class={styles.bar}>
          {bar}
        </div>
      )}
      <div class={`stack ${styles.rows}`}>
        {problem && (
          <ProblemPanel
            problem={inContext(problem, listing)}
            retryLabel={isEmpty ? "Try again" : "Resume"}
            onRetry={() => loadOn(listing, isEmpty ? "small site" : listing.goal)}
          />
        )}
        <Matches listing={listing} table={table} />
        {table.arrangement === "never-read" && props.sitemap.value?.ignored && (
          <p class="hint">{props.sitemap.value.ignored}</p>
        )}
        {!isEmpty && <Rows {...props} describedBy={bar === null ? null : BAR_ID} />}
        <EndNote listing={listing} />
        {isEarlierPart(table) && !asksForChanges(table) && <EarlierNotice {...notice} />}
      </div>
    </section>
  );
}

/** Rewords a rate limit problem: names the loaded rows, because loading resumes after them. */
function inContext(problem: Problem, { rows, report }: Listing): Problem {
  const loaded = rows.value.length;
  if (!problem.isLimit || loaded === 0) return problem;
  const { one, many } = report;
  return {
    ...problem,
    cause: `${counted(loaded, one, many)} ${loaded === 1 ? "is" : "are"} loaded.`,
    advice: `Load the other ${many} when a request is available.`,
  };
}

interface RowsProps extends AnswerProps {
  describedBy: string | null;
}

function Rows({ session, listing, table, sitemap, selection, ...props }: RowsProps) {
  const { range, arrangement, sorting, filter, lines, columns, openFolders } = table;
  const entry = useSignal<ReportRow | null>(null);
  if (lines.length === 0) {
    return (
      <EmptyTable
        listing={listing}
        table={table}
        hasSitemap={sitemap.value !== null}
        onSitemap={props.onSitemap}
      />
    );
  }
  const { from, to } = range;
  const mayStartJobs = allows(session.claims, "jobs:create");
  const offersJob = (row: ReportRow) =>
    mayStartJobs && jobPrompt(listing.report, row, table) !== null;
  const startJob = (row: ReportRow) => {
    const prompt = jobPrompt(listing.report, row, table);
    if (prompt !== null) startRowJob(session, prompt);
  };
  const close = () => {
    entry.value = null;
  };
  return (
    <>
      <ReportTable
        label={LABELS[listing.report.name]}
        describedBy={props.describedBy}
        lines={lines}
        columns={columns}
        sorting={sorting}
        compared={table.compared}
        onSort={(next) => visit({ analytics: { sorting: next } })}
        site={siteOf(session)}
        linkPage={allows(session.claims, "analytics:read") ? pageLinks() : null}
        openFolders={openFolders}
        onToggle={toggleFolder}
        onOpen={(row) => {
          entry.value = row;
        }}
        offersJob={offersJob}
        onStartJob={startJob}
        selection={
          selection.value && {
            has: (row) => selection.value?.has(idOfRow(listing.report, row)) ?? false,
            toggle: (row) => {
              selection.value = toggleRow(listing.report, selection.peek(), row);
            },
          }
        }
        isLoading={[listing, table.earlier].some((one) => one?.state.value === "loading")}
        viewKey={[
          [from, to, arrangement, sorting.column, sorting.direction, filter].join(" "),
          ...Object.entries(table.facets).flat(),
        ].join("\n")}
      />
      {entry.value && renderDialog({ session, entry: entry.value, offersJob, startJob, close })}
    </>
  );
}

interface RowDialogProps {
  session: Session;
  entry: ReportRow;
  offersJob(row: ReportRow): boolean;
  startJob(row: ReportRow): void;
  close(): void;
}

function renderDialog({ session, entry, offersJob, startJob, close }: RowDialogProps) {
  const { turn } = entry;
  const start = () => {
    close();
    startJob(entry);
  };
  const onStartJob = offersJob(entry) ? start : null;
  if (turn === undefined) {
    return <EntryDialog entry={entry} onStartJob={onStartJob} onClose={close} />;
  }
  return (
    <ConversationDialog session={session} turn={turn} onStartJob={onStartJob} onClose={close} />
  );
}

function toggleFolder(folder: string): void {
  const next = new Set(address.peek().analytics.openFolders);
  if (!next.delete(folder)) next.add(folder);
  adjust({ analytics: { openFolders: [...next] } });
}
