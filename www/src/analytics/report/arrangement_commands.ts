import { useLayoutEffect, useRef } from "preact/hooks";
import { registerCommands } from "../../shell/commands.ts";
import type { Arrangement } from "../period/address_words.ts";
import { arrangementsOf } from "../rows/arrangement.ts";
import type { Report } from "../rows/report.ts";

/** Adds the choices of the Show menu to the command palette. */
export function useArrangementCommands(
  report: Report,
  onArrange: (arrangement: Arrangement) => void,
): void {
  const latest = useRef(onArrange);
  latest.current = onArrange;
  useLayoutEffect(() => {
    const offered = arrangementsOf(report);
    if (offered.length < 2) return;
    return registerCommands("Show", () =>
      offered.map(({ id, label }) => ({
        label,
        needsQuery: true,
        run: () => latest.current(id),
      })),
    );
  }, [report]);
}
