import { untracked } from "@preact/signals";
import type { Session } from "../session/session.ts";
import { registerCommands } from "../shell/commands.ts";
import { openView } from "./open_view.ts";
import { ViewShelf } from "./view_shelf.ts";
import { VIEW_WORDS } from "./words.ts";

const shelves = new WeakMap<Session, ViewShelf>();

/** Returns the views of a session's project. The first call adds them to the command palette. */
export function savedViewsOf(session: Session): ViewShelf {
  return shelves.get(session) ?? untracked(() => openShelf(session));
}

function openShelf(session: Session): ViewShelf {
  const { data, projectId, end } = session;
  const shelf = new ViewShelf(data, projectId, end.signal);
  shelves.set(session, shelf);
  const stop = registerCommands(VIEW_WORDS.views, () =>
    shelf.views.value.map((view) => ({ label: view.name, run: () => openView(view) })),
  );
  end.signal.addEventListener("abort", stop);
  return shelf;
}
