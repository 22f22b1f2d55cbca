import { VIEW_WORDS } from "../../saved_views/words.ts";
import { screenOf } from "../../session/routes.ts";
import type { Session } from "../../session/session.ts";
import type { Address } from "../../shell/address.ts";
import { defer } from "../../shell/deferred.tsx";
import { Bookmark } from "../../shell/icons.tsx";
import { Menu } from "../../shell/menu.tsx";
import { PRESETS, rangeLabel, rangeOf } from "../period/range.ts";
import { today } from "../period/today.ts";

/** Loaded when the menu opens. */
const SavedViews = defer(
  async () => (await import("../../saved_views/views_panel.tsx")).SavedViews,
);

/** Saves the report under a name, and opens reports that were saved. */
export function SavedViewsMenu({ session }: { session: Session }) {
  return (
    <Menu
      name="Views"
      align="end"
      value={
        <>
          <Bookmark /> {VIEW_WORDS.views}
        </>
      }
    >
      {(close) => <SavedViews session={session} describe={describeReport} onClose={close} />}
    </Menu>
  );
}

/** Returns "Page views · Last 28 days". */
function describeReport({ route, analytics: { range } }: Address): string {
  const preset = PRESETS.find(({ id }) => id === range);
  const period = preset?.label ?? rangeLabel(rangeOf(range, today.value));
  return `${screenOf(route).title} · ${period}`;
}
