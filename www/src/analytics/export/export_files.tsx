import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { session as openedSession, type Session } from "../../session/session.ts";
import { announce } from "../../shell/announcer.tsx";
import { ProblemPanel } from "../../shell/problem_panel.tsx";
import { toast } from "../../shell/toast.ts";
import { count, counted } from "../../shell/wording.ts";
import { viewsOf } from "../cache/session_views.ts";
import { rowOf } from "../rows/line.ts";
import type { Listing } from "../rows/listing.ts";
import { type Expected, requestRange } from "../rows/remainder.ts";
import type { Report, ReportName } from "../rows/report.ts";
import { type ExportedReport, exportReport } from "../rows/report_pages.ts";
import {
  EXPORT_FORMATS,
  type ExportFormat,
  fileName,
  looksLikeFormula,
  nameChanges,
  writeRows,
} from "../rows/rows_text.ts";
import { requestsForAll } from "../table/partial_list.ts";
import type { TableModel } from "../table/table_model.ts";
import { type CurrentExport, currentExport } from "./current_export.ts";
import * as styles from "./export_files.module.css";
import { saveFile } from "./file_download.ts";
import * as progress from "./progress.module.css";
import { WholeExport } from "./whole_export.ts";

const FILE_NAMES: Record<ReportName, string> = {
  views: "page-views",
  visitors: "visitors",
  feedback: "feedback",
  feedbackByPage: "feedback-by-page",
  searches: "searches",
  conversations: "conversations",
};

interface ExportChoicesProps {
  session: Session;
  table: TableModel;
  listing: Listing;
  onChosen(): void;
}

/** Lets the person choose the rows and the format. */
export function ExportChoices({ session, table, listing, onChosen }: ExportChoicesProps) {
  const { name, one, many } = listing.report;
  const { length } = table.lines;
  const shown =
    table.arrangement === "folders" ? counted(length, "row") : counted(length, one, many);
  const isRunning = currentExport.value !== null;
  const hint = isWhole(listing) ? "" : ` Only loaded ${many} are included.`;
  return (
    <>
      <Formats
        label={`Current view (${shown})`}
        hint={`Keeps your filter and sort order.${hint}`}
        isDisabled={length === 0}
        onChoose={(format) => {
          saveShown(session, table, listing, format);
          onChosen();
        }}
      />
      {name !== "feedbackByPage" && (
        <Formats
          label={`All ${many}`}
          hint={costHint(listing.report, requestsForAll(viewsOf(session), listing))}
          isDisabled={isRunning}
          onChoose={(format) => {
            onChosen();
            startWhole(session, listing, name, format);
          }}
        />
      )}
    </>
  );
}

function costHint({ pageSize, many }: Report, expected: Expected | null): string {
  if (expected === null) return `Uses one request per ${count(pageSize)} ${many}.`;
  return `Uses ${requestRange(expected)}.`;
}

interface FormatsProps {
  label: string;
  hint: string;
  isDisabled: boolean;
  onChoose(format: ExportFormat): void;
}

function Formats({ label, hint, isDisabled, onChoose }: FormatsProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out as a list in every browser
    <div class={styles.choices} role="group" aria-label={label}>
      <p class={styles.heading}>{label}</p>
      <p class="hint">{hint}</p>
      <div class="actions">
        {EXPORT_FORMATS.map(({ id, label: format }) => (
          <button
            key={id}
            type="button"
            aria-label={`${format}, ${label}`}
            aria-disabled={isDisabled}
            onClick={() => {
              if (!isDisabled) onChoose(id);
            }}
          >
            {format}
          </button>
        ))}
      </div>
    </div>
  );
}

function saveShown(
  { projectId }: Session,
  { lines, columns: shown, filter, arrangement, compared }: TableModel,
  listing: Listing,
  format: ExportFormat,
): void {
  const rows = lines.map(rowOf);
  const columns = shown.map(({ id }) => id);
  const complete = isWhole(listing);
  const about = { ...aboutOf(listing, projectId), show: arrangement, filter, complete };
  const named = nameChanges(rows, columns, compared);
  const text = writeRows(named.rows, named.columns, format, about);
  const name = nameOf(listing, projectId, "shown", format);
  saveFile(name, [text], typeOf(format));
  const isGuarded = rows.some((row) => columns.some((id) => looksLikeFormula(row[id])));
  const part = complete ? "" : ` It has only the loaded ${listing.report.many}.`;
  const guard =
    format === "csv" && isGuarded
      ? " Text that looks like a formula begins with an apostrophe."
      : "";
  toast({ text: `Saved ${counted(rows.length, "row")} as ${name}.${part}${guard}` });
}

function isWhole(listing: Listing): boolean {
  return listing.state.value === "complete";
}

async function startWhole(
  session: Session,
  listing: Listing,
  name: ExportedReport,
  format: ExportFormat,
): Promise<void> {
  const { dateFrom, dateTo } = listing.bounds.peek();
  const work = new WholeExport(format, (streamed, resumeFrom, signal) =>
    exportReport(
      session.client,
      name,
      { dateFrom, dateTo },
      { format: streamed, resumeFrom, signal },
    ),
  );
  const current = { work, listing, session };
  currentExport.value = current;
  session.end.signal.addEventListener("abort", () => end(current));
  await resume(current);
}

/** Cancels an export when its session ends. Shows a message if another project was opened. */
async function end({ work, session }: CurrentExport): Promise<void> {
  if (currentExport.peek()?.work !== work) return;
  work.cancel();
  currentExport.value = null;
  // The next session opens after this event.
  await Promise.resolve();
  const opened = openedSession.peek();
  if (opened === null || opened.projectId === session.projectId) return;
  toast({ text: "Export canceled, because you opened another project" });
}

/** Reads the missing rows. Saves the file unless the reading fails or is canceled. */
async function resume({ work, listing, session }: CurrentExport): Promise<void> {
  if (!(await work.run())) return;
  const { projectId } = session;
  const name = nameOf(listing, projectId, "all", work.format);
  saveFile(name, work.parts(aboutOf(listing, projectId)), typeOf(work.format));
  const mixed = work.isMixed
    ? " The figures changed meanwhile, so rows can be missing or repeated."
    : "";
  toast({ text: `Saved all ${listing.report.many} as ${name}.${mixed}` });
  if (currentExport.peek()?.work === work) currentExport.value = null;
}

/**
 * Shows the progress of an export at the end of the masthead, on every route. When the browser is
 * back online, resumes an interrupted export.
 */
export function RunningExport({ current }: { current: CurrentExport }) {
  const { work, listing } = current;
  const problem = work.problem.value;
  const isResumed = useSignal(false);

  useEffect(() => {
    const resumeOnline = () => {
      if (work.problem.peek() === null) return;
      isResumed.value = true;
      resume(current);
    };
    addEventListener("online", resumeOnline);
    return () => removeEventListener("online", resumeOnline);
  }, [work]);

  function cancel() {
    work.cancel();
    currentExport.value = null;
    announce("Export canceled");
  }

  const { many, one, pageSize } = listing.report;
  const loaded = work.pages.value * pageSize;
  const expected = isWhole(listing) ? listing.rows.value.length : null;
  const label = `Exporting all ${many}`;
  if (problem !== null) {
    return (
      <section class={styles.strip} aria-label={label}>
        <ProblemPanel problem={problem} retryLabel="Resume" onRetry={() => resume(current)} />
        <p class="hint">
          {counted(loaded, one, many)} loaded. Resume to finish the export.{" "}
          <button type="button" class="quiet" onClick={cancel}>
            Cancel export
          </button>
        </p>
      </section>
    );
  }
  const done = Math.min(loaded, expected ?? loaded);
  const amount = expected === null ? count(done) : `${count(done)} of ${count(expected)}`;
  const value = expected === null ? {} : { max: Math.max(1, expected), value: done };
  return (
    <section class={styles.strip} aria-label={label}>
      <div class={progress.progress}>
        <progress aria-label={label} {...value} />
        <p>
          {isResumed.value ? "Resumed. " : ""}Exporting… {amount} {many}
        </p>
        <button type="button" class="quiet" onClick={cancel}>
          Cancel
        </button>
      </div>
    </section>
  );
}

function aboutOf(listing: Listing, projectId: string): Record<string, unknown> {
  const { dateFrom, dateTo } = listing.bounds.peek();
  const totals = listing.totals.peek();
  const { name } = listing.report;
  return { report: name, project: projectId, dateFrom, dateTo, ...(totals && { totals }) };
}

function nameOf(
  { report, range }: Listing,
  projectId: string,
  part: "shown" | "all",
  format: ExportFormat,
): string {
  const parts = [FILE_NAMES[report.name], projectId, range.from, range.to];
  return fileName(part === "shown" ? [...parts, part] : parts, format);
}

function typeOf(format: ExportFormat): string {
  return EXPORT_FORMATS.find(({ id }) => id === format)?.type ?? "text/plain";
}
