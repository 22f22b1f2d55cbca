import type { Session } from "../../session/session.ts";
import { defer } from "../../shell/deferred.tsx";
import { Download } from "../../shell/icons.tsx";
import { Menu } from "../../shell/menu.tsx";
import type { TableModel } from "../table/table_model.ts";

/** Loaded when the menu opens, because few visits export anything. */
const ExportChoices = defer(async () => (await import("./export_files.tsx")).ExportChoices);

interface ExportMenuProps {
  session: Session;
  table: TableModel;
}

/** Exports the rows shown, or the whole report. */
export function ExportMenu({ session, table }: ExportMenuProps) {
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
          <ExportChoices session={session} table={table} listing={listing} onChosen={close} />
        ) : (
          <p class="hint">Wait until the rows have loaded.</p>
        )
      }
    </Menu>
  );
}
