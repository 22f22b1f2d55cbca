import type { Signal } from "@preact/signals";
import { allows } from "../../session/claims.ts";
import type { Session } from "../../session/session.ts";
import { CopyButton } from "../../shell/copy_button.tsx";
import { toast } from "../../shell/toast.ts";
import { counted } from "../../shell/wording.ts";
import { saveFile } from "../export/file_download.ts";
import type { Listing } from "../rows/listing.ts";
import { EXPORT_FORMATS, fileName, nameChanges, toCsv, writeRows } from "../rows/rows_text.ts";
import type { TableModel } from "../table/table_model.ts";
import { jobPromptOfRows, rowsOfJob } from "./job_prompt.ts";
import { type Selection, selectedRows, startLabel } from "./selection.ts";
import { startRowJob } from "./start_row_job.ts";

interface SelectionBarProps {
  session: Session;
  listing: Listing;
  table: TableModel;
  selection: Signal<Selection>;
}

/** The actions on the selected rows: start one job, copy them, or save them. */
export function SelectionBar({ session, listing, table, selection }: SelectionBarProps) {
  const { report } = listing;
  const rows = selectedRows(report, table.lines, selection.value);
  const covered = rowsOfJob(report, rows, table);
  const prompt = jobPromptOfRows(report, covered, table);
  const columns = table.columns.map(({ id }) => id);
  const named = nameChanges(rows, columns, table.compared);
  const save = () => {
    const name = fileName([report.name, session.projectId, "selected"], "csv");
    saveFile(name, [writeRows(named.rows, named.columns, "csv")], EXPORT_FORMATS[0]?.type ?? "");
    toast({ text: `Saved ${counted(rows.length, "row")} as ${name}.` });
  };
  return (
    <section class="actions" aria-label="Selected rows">
      <span aria-live="polite">{counted(rows.length, report.one, report.many)} selected</span>
      {prompt !== null && allows(session.claims, "jobs:create") && (
        <button type="button" class="primary" onClick={() => startRowJob(session, prompt)}>
          {startLabel(report, rows.length, covered.length)}
        </button>
      )}
      {rows.length > 0 && (
        <>
          <CopyButton label="Copy as CSV" text={toCsv(named.rows, named.columns)} />
          <button type="button" class="quiet" onClick={save}>
            Save as CSV
          </button>
        </>
      )}
      <button
        type="button"
        class="quiet"
        onClick={() => {
          selection.value = null;
        }}
      >
        Done
      </button>
    </section>
  );
}
