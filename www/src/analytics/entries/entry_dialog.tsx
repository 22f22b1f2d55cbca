import { Dialog } from "../../shell/dialog.tsx";
import { REPORTS, type ReportRow } from "../rows/report.ts";
import { formatCell } from "../table/report_cell.tsx";
import * as styles from "./entry_dialog.module.css";

interface EntryDialogProps {
  entry: ReportRow;
  /** Null if the session may not start jobs, or if the feedback suggests none. */
  onStartJob: (() => void) | null;
  onClose(): void;
}

/** Shows a feedback entry in full. Table rows truncate it. */
export function EntryDialog({ entry, onStartJob, onClose }: EntryDialogProps) {
  const columns = REPORTS.feedback.columns.filter(({ id }) => id !== "comment");
  return (
    <Dialog open title="Feedback" onClose={onClose}>
      <p class={styles.comment}>
        <bdi>{entry.comment}</bdi>
      </p>
      <dl class="facts">
        {columns.map(({ id, label, kind }) => (
          <div key={id}>
            <dt>{label}</dt>
            <dd>{formatCell(entry[id] ?? null, kind)}</dd>
          </div>
        ))}
      </dl>
      {onStartJob && (
        <div class="actions">
          <button type="button" class="primary" onClick={onStartJob}>
            Start a job
          </button>
        </div>
      )}
    </Dialog>
  );
}
