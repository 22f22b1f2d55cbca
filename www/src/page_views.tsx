import { useSignal, useSignalEffect } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { PageView } from "quillgate";
import { allows } from "./access_token.ts";
import { announce } from "./announcer.tsx";
import { looksLikeFormula } from "./csv.ts";
import { downloadCsv } from "./csv_download.ts";
import { Download } from "./icons.tsx";
import type { Listing } from "./listing.ts";
import { wantedRange } from "./listing_cache.ts";
import { address, adjust } from "./navigation.ts";
import { ProblemPanel } from "./problem_panel.tsx";
import { rangeSentence } from "./range.ts";
import { RangePicker } from "./range_picker.tsx";
import { repeatedPaths, sortRows } from "./rows.ts";
import { ScopeNotice } from "./scope_notice.tsx";
import type { Session } from "./session.ts";
import { Totals } from "./totals.tsx";
import { ViewsTable } from "./views_table.tsx";
import { counted, limitNote, moment } from "./wording.ts";

export function PageViewsView({ session }: { session: Session }) {
  if (!allows(session.claims, "analytics:read")) {
    return <ScopeNotice scope="analytics:read" lost="it cannot read page views" />;
  }
  return <RangeOfViews session={session} />;
}

function RangeOfViews({ session }: { session: Session }) {
  const { views } = session;
  useSignalEffect(() => {
    wantedRange();
    views.open();
  });
  const current = views.current.value;
  const range = wantedRange();
  return (
    <div class="page-views">
      <RangePicker range={range} />
      <p class="range-sentence">
        {rangeSentence(range, current?.bounds.frozenAt ?? null)}{" "}
        <button type="button" class="quiet" onClick={() => views.refresh()}>
          Refresh
        </button>
      </p>
      {current && <LoadedViews key={current.key} views={current} projectId={session.projectId} />}
    </div>
  );
}

interface LoadedViewsProps {
  views: Listing;
  projectId: string;
}

function LoadedViews({ views, projectId }: LoadedViewsProps) {
  const downloadButton = useRef<HTMLButtonElement>(null);
  const saved = useSignal<string | null>(null);
  const wanted = useSignal<"table" | "file">("table");
  const state = views.state.value;
  const problem = views.problem.value;
  const empty = views.requests.value === 0;
  const busy = empty || state === "loading";

  async function loadAll() {
    if (busy) return;
    wanted.value = "table";
    const loaded = await views.load("all rows");
    keepFocus();
    if (loaded) announce(`All ${counted(views.rows.peek().length, "page")} loaded`);
  }

  async function download() {
    if (busy) return;
    wanted.value = "file";
    saved.value = null;
    const loaded = await views.load("all rows");
    keepFocus();
    if (!loaded) return;
    const rows = sortRows(views.rows.peek(), address.peek().sorting);
    const name = downloadCsv(projectId, views.range, rows);
    saved.value = savedNote(rows, name);
  }

  /** Buttons come and go with the state: do not leave the keyboard nowhere. */
  function keepFocus() {
    requestAnimationFrame(() => {
      if (document.activeElement !== document.body) return;
      downloadButton.current?.focus({ preventScroll: true });
    });
  }

  const goOn = wanted.value === "file" ? download : loadAll;
  return (
    <div class="loaded-views">
      <StaleNote views={views} />
      <Totals totals={views.totals.value} />
      <div class="toolbar">
        <PathFilter />
        <div class="actions">
          {!empty && state !== "complete" && (
            <button type="button" aria-disabled={busy} onClick={loadAll}>
              Load all
            </button>
          )}
          <button
            ref={downloadButton}
            type="button"
            class="primary"
            aria-disabled={busy}
            onClick={download}
          >
            <Download />
            Download CSV
          </button>
        </div>
      </div>
      <LoadNote views={views} purpose={wanted.value} />
      {problem && (
        <ProblemPanel
          problem={problem}
          retryLabel={empty ? "Retry" : "Resume"}
          onRetry={empty ? () => views.load("first rows") : goOn}
        />
      )}
      <p class="saved" role="status">
        {saved.value}
      </p>
      <ViewsTable views={views} />
    </div>
  );
}

function savedNote(rows: readonly PageView[], name: string): string {
  const note = `Saved ${counted(rows.length, "page")} as ${name}.`;
  if (!rows.some(({ path }) => looksLikeFormula(path))) return note;
  return `${note} Paths that a spreadsheet would take for formulas begin with an apostrophe.`;
}

function PathFilter() {
  return (
    <div class="field filter">
      <label for="filter">Filter by path</label>
      <input
        id="filter"
        type="search"
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        value={address.value.filter}
        onInput={(event) => adjust({ filter: event.currentTarget.value })}
      />
    </div>
  );
}

/** Says so when the gateway could give no more than it had kept. */
function StaleNote({ views }: { views: Listing }) {
  const staleness = views.staleness.value;
  if (staleness === null) return null;
  const why =
    staleness.why === "no answer"
      ? "The platform did not answer"
      : "The limit on analytics requests is used up";
  return (
    <p class="notice" role="status">
      <span>
        <strong>As of {moment(staleness.asOf, Date.now())}.</strong> {why}, so these are counts that
        the gateway had kept. Refresh to ask again.
      </span>
    </p>
  );
}

function LoadNote({ views, purpose }: { views: Listing; purpose: "table" | "file" }) {
  const rows = views.rows.value;
  const soFar = `${counted(rows.length, "page")} in ${counted(views.requests.value, "request")}`;
  if (views.state.value === "loading") {
    const label = purpose === "file" ? "Preparing the CSV" : "Loading page views";
    const started = views.requests.value > 0;
    return (
      <div class="progress">
        <progress aria-label={label} />
        <p>
          {label}
          {started ? `: ${soFar} so far. The platform does not say how many there are.` : "…"}
        </p>
        {started && (
          <button type="button" onClick={() => views.stop()}>
            Cancel
          </button>
        )}
      </div>
    );
  }
  if (views.state.value === "partial") {
    return (
      <p class="load-note">
        Sorted and filtered within the {soFar}; there are more. The CSV has all of them: going on
        costs one request for each 250 pages that the gateway has not kept, for the whole
        organisation.{" "}
        {views.limit.value
          ? limitNote(views.limit.value, "request")
          : "At most 100 requests an hour."}
      </p>
    );
  }
  if (views.state.value === "empty") return null;
  const repeated = repeatedPaths(rows);
  return (
    <p class="load-note">
      All {counted(rows.length, "page")} loaded.
      {address.value.filter !== "" && " The CSV has them all, whatever the filter."}
      {repeated > 0 &&
        ` ${counted(repeated, "row")} repeat a path: the platform’s list moved while it was read. Refresh to read it again.`}
    </p>
  );
}
