import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import type { Session } from "../../session/session.ts";
import { ProblemPanel } from "../../shell/problem_panel.tsx";
import { nameOfText } from "../../shell/readable_text.ts";
import { counted } from "../../shell/wording.ts";
import { viewsOf } from "../cache/session_views.ts";
import { type Figure, Figures, figuresOfCounts } from "../report/totals_strip.tsx";
import { FEEDBACK_MAY_BE_OFF } from "../rows/feedback_rows.ts";
import { type Listing, SMALL_SITE_ROWS } from "../rows/listing.ts";
import { toPageId } from "../rows/page_path.ts";
import { type Column, REPORTS, type ReportRow } from "../rows/report.ts";
import { textOf } from "../rows/rows.ts";
import { formatCell } from "../table/report_cell.tsx";
import { wantedRange } from "../table/table_model.ts";
import { countsOfPage, spellingsIn } from "./page_figures.ts";
import * as styles from "./page_reports.module.css";
import { PAGE_WORDS } from "./words.ts";

interface PageReportProps {
  session: Session;
  path: string;
}

export function PageVisitors({ session, path }: PageReportProps) {
  return (
    <PageSection title={PAGE_WORDS.visitors}>
      <OnDemand session={session} name="visitors">
        {(listing) => {
          const counts = countsOfPage(listing, path);
          if (counts === null) return null;
          if (counts.total === 0) return <p class="hint">{PAGE_WORDS.noVisitors}</p>;
          const figures = figuresOfCounts(REPORTS.visitors, counts, null);
          const spellings = spellingsIn(listing, path);
          return (
            <>
              <Figures figures={figures.map(withoutChange)} />
              {spellings.length > 1 && (
                <p class="hint">{PAGE_WORDS.visitorsOf(spellings.join(", "))}</p>
              )}
            </>
          );
        }}
      </OnDemand>
    </PageSection>
  );
}

/** Visitors of one page are not compared, so no space is left for a change. */
function withoutChange({ change, ...figure }: Figure): Figure {
  return figure;
}

export function PageFeedback({ session, path }: PageReportProps) {
  return (
    <PageSection title={PAGE_WORDS.feedback}>
      <OnDemand session={session} name="feedback">
        {(listing) =>
          renderMatches(listing, {
            matches: isAbout("path", path),
            none: `${PAGE_WORDS.noFeedback}${listing.rows.value.length === 0 ? ` ${FEEDBACK_MAY_BE_OFF}` : ""}`,
            renderRow: renderFeedback,
          })
        }
      </OnDemand>
    </PageSection>
  );
}

export function PageSearches({ session, path }: PageReportProps) {
  return (
    <PageSection title={PAGE_WORDS.searches}>
      <OnDemand session={session} name="searches">
        {(listing) =>
          renderMatches(listing, {
            matches: isAbout("clicked", path),
            none: PAGE_WORDS.noSearches,
            renderRow: renderSearch,
          })
        }
      </OnDemand>
      <p class="hint">{PAGE_WORDS.searchesHint}</p>
    </PageSection>
  );
}

export function PageSection({ title, children }: { title: string; children: ComponentChildren }) {
  const id = `page-${title.toLowerCase()}`;
  return (
    <section class={`stack ${styles.section}`} aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}

interface OnDemandProps {
  session: Session;
  name: "visitors" | "feedback" | "searches";
  /** Renders the rows about the page; `null` if none of the loaded rows is about it. */
  children(listing: Listing): ComponentChildren;
}

/**
 * A report that loads when the person asks for it, because Mintlify cannot filter it by page: the
 * whole list would use up much of the hourly limit.
 */
function OnDemand({ session, name, children }: OnDemandProps) {
  const cache = viewsOf(session);
  const report = REPORTS[name];
  const range = wantedRange();
  const listing = cache.find(report, range);
  const isEmpty = listing === null || listing.requests.value === 0;
  const state = listing?.state.value ?? "empty";
  if (state === "loading" && isEmpty) return <p class="hint">{PAGE_WORDS.loading}</p>;
  const problem = listing?.problem.value ?? null;
  if (problem !== null) {
    return <ProblemPanel problem={problem} onRetry={() => cache.openBeside(report, range)} />;
  }
  if (listing === null || isEmpty) {
    return <LoadButton name={name} onLoad={() => cache.openBeside(report, range)} />;
  }
  const rendered = children(listing);
  return (
    <>
      {rendered}
      <LoadedPart listing={listing} isFound={rendered !== null} />
    </>
  );
}

interface LoadedPartProps {
  listing: Listing;
  isFound: boolean;
}

/** Shows how much of a list is loaded, with a button for the rest. Empty for a whole list. */
export function LoadedPart({ listing, isFound }: LoadedPartProps) {
  const { report, rows, state } = listing;
  // Any row that is not loaded can be about the page, in another spelling.
  if (state.value === "complete") return null;
  const loaded = counted(rows.value.length, report.one, report.many);
  if (state.value === "loading") return <p class="hint">{PAGE_WORDS.loading}</p>;
  return (
    <p class={styles.load}>
      <span class="hint">{isFound ? PAGE_WORDS.among(loaded) : PAGE_WORDS.notAmong(loaded)}</span>
      <button type="button" onClick={() => listing.load("rows above reserve")}>
        {PAGE_WORDS.loadAll(report.many)}
      </button>
    </p>
  );
}

interface LoadButtonProps {
  name: "views" | OnDemandProps["name"];
  onLoad(): void;
}

/** Loads the first rows of a report. Shows the maximum number of requests. */
export function LoadButton({ name, onLoad }: LoadButtonProps) {
  const cost = Math.ceil(SMALL_SITE_ROWS / REPORTS[name].pageSize);
  return (
    <p class={styles.load}>
      <button type="button" onClick={onLoad}>
        {PAGE_WORDS.load(PAGE_WORDS[name].toLowerCase())}
      </button>
      <span class="hint">{PAGE_WORDS.cost(cost)}</span>
    </p>
  );
}

const MAX_COLLAPSED_ROWS = 5;

/** Returns a function that tests whether a column of a row names a page, in any spelling. */
function isAbout(column: "path" | "clicked", path: string): Matches["matches"] {
  const page = toPageId(path);
  return (row) => {
    const text = textOf(row[column]);
    return text !== null && toPageId(text) === page;
  };
}

interface Matches {
  matches(row: ReportRow): boolean;
  /** The sentence for a complete list without a match. */
  none: string;
  renderRow(row: ReportRow): ComponentChildren;
}

/** Renders the rows that match. Returns `null` if no row of an incomplete list matches. */
function renderMatches(listing: Listing, { matches, none, renderRow }: Matches) {
  const rows = listing.rows.value.filter(matches);
  if (rows.length > 0) return <MatchingRows rows={rows} renderRow={renderRow} />;
  return listing.state.value === "complete" ? <p class="hint">{none}</p> : null;
}

interface MatchingRowsProps {
  rows: ReportRow[];
  renderRow: Matches["renderRow"];
}

function MatchingRows({ rows, renderRow }: MatchingRowsProps) {
  const isExpanded = useSignal(false);
  const shown = isExpanded.value ? rows : rows.slice(0, MAX_COLLAPSED_ROWS);
  return (
    <>
      <ul class={styles.list}>
        {shown.map((row, index) => (
          // Rows have no id, and the list only grows.
          <li key={index}>{renderRow(row)}</li>
        ))}
      </ul>
      {shown.length < rows.length && (
        <button
          type="button"
          class="quiet"
          onClick={() => {
            isExpanded.value = true;
          }}
        >
          {PAGE_WORDS.showAll(rows.length)}
        </button>
      )}
    </>
  );
}

function renderFeedback(row: ReportRow) {
  const comment = textOf(row.comment)?.trim() ?? "";
  const verdicts: Record<string, string> = {
    Yes: PAGE_WORDS.helpful,
    No: PAGE_WORDS.notHelpful,
  };
  const verdict = verdicts[textOf(row.helpful) ?? ""];
  return (
    <>
      {comment === "" ? (
        <p class="hint">{PAGE_WORDS.noComment}</p>
      ) : (
        <p class={styles.comment} dir="auto">
          {comment}
        </p>
      )}
      <p class="hint">
        {verdict !== undefined && `${verdict} · `}
        {renderCell(row, "created")}
      </p>
    </>
  );
}

function renderSearch(row: ReportRow) {
  return (
    <>
      <p dir="auto">{nameOfText(textOf(row.query) ?? "")}</p>
      <p class="hint">
        {renderCell(row, "hits")} searches · {renderCell(row, "ctr")} click rate
      </p>
    </>
  );
}

/** Formats a cell as the table of its report does. */
function renderCell(row: ReportRow, column: Column) {
  const columns = [...REPORTS.feedback.columns, ...REPORTS.searches.columns];
  const { kind = "text" } = columns.find(({ id }) => id === column) ?? {};
  return formatCell(row[column] ?? null, kind);
}
