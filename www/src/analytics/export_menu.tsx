import type { Signal } from "@preact/signals";
import type { Client } from "quillgate";
import { defer } from "../shell/deferred.tsx";
import { Download } from "../shell/icons.tsx";
import type { Listing } from "./listing.ts";
import { Menu } from "./menu.tsx";
import type { TableModel } from "./table_model.ts";
import type { WholeExport } from "./whole_export.ts";

/** Few visits end with a file: what makes one is fetched when it is asked for. */
const ExportChoices = defer(async () => (await import("./export_files.tsx")).ExportChoices);
const RunningExport = defer(async () => (await import("./export_files.tsx")).RunningExport);

/** An export of everything that is under way, and of what. */
export interface CurrentExport {
  work: WholeExport;
  listing: Listing;
}

/** What a route knows of its exports. */
export interface Exports {
  client: Client;
  projectId: string;
  current: Signal<CurrentExport | null>;
  saved: Signal<string | null>;
}

interface ExportMenuProps {
  exports: Exports;
  table: TableModel;
}

/** Files of what is shown, or of everything in the period. */
export function ExportMenu({ exports, table }: ExportMenuProps) {
  const { listing } = table;
  return (
    <Menu
      name="Export"
      align="end"
      value={
        <>
          <Download /> Export
        </>
      }
    >
      {(close) =>
        listing ? (
          <ExportChoices exports={exports} table={table} listing={listing} onChosen={close} />
        ) : (
          <p class="hint">Wait until the rows are here.</p>
        )
      }
    </Menu>
  );
}

/** How far an export of everything is, and what to do when it stops. */
export function ExportProgress({ exports }: { exports: Exports }) {
  const current = exports.current.value;
  return current && <RunningExport exports={exports} current={current} />;
}
