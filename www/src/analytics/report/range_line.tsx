import type { Signal } from "@preact/signals";
import type { RefObject } from "preact";
import type { Session } from "../../session/session.ts";
import { keepFocus } from "../../shell/follow_focus.ts";
import { counted } from "../../shell/wording.ts";
import { viewsOf } from "../cache/session_views.ts";
import { siteOf } from "../cache/site_address.ts";
import { rangeLabel, rangeSentence } from "../period/range.ts";
import type { Report } from "../rows/report.ts";
import type { TableModel } from "../table/table_model.ts";
import { loadOn } from "./notices.tsx";
import * as styles from "./range_line.module.css";

export type OpenDialog = "site" | "sitemap" | null;

interface RangeLineProps {
  session: Session;
  report: Report;
  table: TableModel;
  dialog: Signal<OpenDialog>;
  refresh: RefObject<HTMLButtonElement | null>;
}

/** Shows the counted and compared days, with actions. */
export function RangeLine({ session, report, table, dialog, refresh }: RangeLineProps) {
  const cache = viewsOf(session);
  const { range, listing } = table;
  const site = siteOf(session);
  return (
    <p class={styles.line}>
      <span>{rangeSentence(range, listing?.bounds.value.frozenAt ?? null)}</span>
      <ComparedWith report={report} table={table} />
      <button
        ref={refresh}
        type="button"
        class="quiet"
        aria-disabled={listing === null}
        onClick={() => {
          if (listing) cache.refresh(listing).then(() => keepFocus(refresh));
        }}
      >
        Refresh
      </button>
      {report.key === "path" && (
        <button
          type="button"
          class="quiet"
          onClick={() => {
            dialog.value = "site";
          }}
        >
          {site === null ? "Set site URL" : `Site: ${new URL(site).host}`}
        </button>
      )}
    </p>
  );
}

type ComparedWithProps = Pick<RangeLineProps, "report" | "table">;

function ComparedWith({ report, table }: ComparedWithProps) {
  const { listing, earlier, earlierRange } = table;
  if (earlierRange === null) return null;
  const days = `vs ${rangeLabel(earlierRange)}`;
  const problem = earlier?.problem.value ?? null;
  if (problem) {
    const rows = earlier?.rows.value.length ?? 0;
    const state =
      rows === 0 ? "not loaded" : `partly loaded (${counted(rows, report.one, report.many)})`;
    return (
      <span>
        {days}: {state}. {problem.title}.{" "}
        <button
          type="button"
          class="quiet"
          onClick={() => earlier && loadOn(earlier, "small site")}
        >
          Load the previous period
        </button>
      </span>
    );
  }
  const isLeftOut = earlier === null && (listing?.requests.value ?? 0) > 0;
  return <span>{isLeftOut ? `${days}: not loaded, no requests left` : days}</span>;
}
