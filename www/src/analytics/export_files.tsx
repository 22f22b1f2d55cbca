import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { announce } from "../shell/announcer.tsx";
import { ProblemPanel } from "../shell/problem_panel.tsx";
import { toast } from "../shell/toast.ts";
import { counted } from "../shell/wording.ts";
import type { CurrentExport, Exports } from "./export_menu.tsx";
import { saveFile } from "./file_download.ts";
import { rowOf } from "./line.ts";
import type { Listing } from "./listing.ts";
import { keepFocus } from "./notices.tsx";
import type { ReportName } from "./report.ts";
import { exportReport } from "./report_pages.ts";
import {
  EXPORT_FORMATS,
  type ExportFormat,
  fileName,
  looksLikeFormula,
  writeRows,
} from "./rows_text.ts";
import type { TableModel } from "./table_model.ts";
import { WholeExport } from "./whole_export.ts";
import "../styles/export.css";

const FILE_NAMES: Record<ReportName, string> = {
  views: "page-views",
  visitors: "visitors",
  feedback: "feedback",
  searches: "searches",
};

interface ExportChoicesProps {
  exports: Exports;
  table: TableModel;
  listing: Listing;
  onChosen(): void;
}

/** Which rows, and in which format. */
export function ExportChoices({ exports, table, listing, onChosen }: ExportChoicesProps) {
  const { one, many, pageSize } = listing.report;
  const { length } = table.lines;
  const shown =
    table.arrangement === "folders" ? counted(length, "row") : counted(length, one, many);
  const isRunning = exports.current.value !== null;
  const part = isWhole(listing) ? "" : `Only loaded ${many} are in it. `;
  return (
    <>
      <Formats
        label={`What is shown: ${shown}`}
        hint={`${part}In this order and with this filter.`}
        isDisabled={length === 0}
        onChoose={(format) => {
          saveShown(exports, table, listing, format);
          onChosen();
        }}
      />
      <Formats
        label="Everything in this period"
        hint={`Costs one request for each ${pageSize} ${many} that the gateway has not kept.`}
        isDisabled={isRunning}
        onChoose={(format) => {
          onChosen();
          startWhole(exports, listing, format);
        }}
      />
    </>
  );
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
    <div class="export-choices" role="group" aria-label={label}>
      <p class="menu-heading">{label}</p>
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
  { projectId, saved }: Exports,
  { lines, columns: shown, filter, arrangement }: TableModel,
  listing: Listing,
  format: ExportFormat,
): void {
  const rows = lines.map(rowOf);
  const columns = shown.map(({ id }) => id);
  const complete = isWhole(listing);
  const about = { ...aboutOf(listing, projectId), show: arrangement, filter, complete };
  const text = writeRows(rows, columns, format, about);
  const name = nameOf(listing, projectId, "shown", format);
  saveFile(name, [text], typeOf(format));
  const isGuarded = rows.some((row) => columns.some((id) => looksLikeFormula(row[id])));
  const part = complete ? "" : ` Only loaded ${listing.report.many} are in it.`;
  const note = `Saved ${counted(rows.length, "row")} as ${name}.${part}`;
  const guard = "Text that a spreadsheet would take for a formula begins with an apostrophe.";
  saved.value = format === "csv" && isGuarded ? `${note} ${guard}` : note;
}

function isWhole(listing: Listing): boolean {
  return listing.state.value === "complete";
}

async function startWhole(exports: Exports, listing: Listing, format: ExportFormat): Promise<void> {
  const { dateFrom, dateTo } = listing.bounds.peek();
  const { name } = listing.report;
  const work = new WholeExport(format, (streamed, cursor, signal) =>
    exportReport(exports.client, name, { dateFrom, dateTo }, { format: streamed, cursor, signal }),
  );
  exports.saved.value = null;
  exports.current.value = { work, listing };
  await goOn(exports, { work, listing });
}

/** Reads on, and saves the file once everything is there. */
async function goOn(exports: Exports, { work, listing }: CurrentExport): Promise<void> {
  if (!(await work.run())) return;
  const { projectId, current, saved } = exports;
  const name = nameOf(listing, projectId, "all", work.format);
  saveFile(name, work.parts(aboutOf(listing, projectId)), typeOf(work.format));
  saved.value = `Saved everything as ${name}.`;
  if (current.peek()?.work === work) current.value = null;
  keepFocus("h1");
}

/** How far it is, and what to do when it stops. */
export function RunningExport({ exports, current }: { exports: Exports; current: CurrentExport }) {
  const { work, listing } = current;
  const state = work.state.value;
  const problem = work.problem.value;
  const isResumed = useSignal(false);

  useEffect(() => {
    const resume = () => {
      if (work.state.peek() !== "interrupted") return;
      isResumed.value = true;
      goOn(exports, current);
    };
    addEventListener("online", resume);
    return () => removeEventListener("online", resume);
  }, [work]);
  // Nobody is left to save the file.
  useEffect(
    () => () => {
      if (exports.current.peek()?.work !== work) return;
      work.cancel();
      toast({ text: "The export was cancelled: it goes on only while its report is open." });
    },
    [work],
  );

  function cancel() {
    work.cancel();
    exports.current.value = null;
    announce("The export is cancelled");
    document.querySelector<HTMLElement>("h1")?.focus();
  }

  const expected = isWhole(listing)
    ? Math.ceil(listing.rows.value.length / listing.report.pageSize)
    : null;
  const pages = work.pages.value;
  const soFar = `${counted(pages, "request")} so far${expected === null ? "" : ` of ${expected}`}`;
  if (state === "interrupted" && problem) {
    return (
      <div class="export-problem">
        <ProblemPanel
          problem={problem}
          retryLabel="Resume"
          onRetry={() => goOn(exports, current).then(() => keepFocus())}
        />
        <p class="hint">
          Nothing is lost: the export goes on after {counted(pages, "request")}, and by itself when
          this computer is back online.{" "}
          <button type="button" class="quiet" onClick={cancel}>
            Cancel the export
          </button>
        </p>
      </div>
    );
  }
  const value = expected === null ? {} : { max: Math.max(1, expected), value: pages };
  return (
    <div class="progress">
      <progress aria-label="Exporting everything" {...value} />
      <p>
        {isResumed.value ? "Resumed. " : ""}Exporting everything: {soFar}.
      </p>
      <button type="button" onClick={cancel}>
        Cancel
      </button>
    </div>
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
