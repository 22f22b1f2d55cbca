import { signal } from "@preact/signals";
import {
  findView,
  lengthOf,
  MAX_NAME,
  MAX_SEARCH,
  MAX_VIEWS,
  normalizeName,
  onViewsStoredElsewhere,
  readViews,
  type SavedView,
  storeViews,
} from "./view_storage.ts";

/** Why a view was not saved or renamed. Nothing has changed. */
export type ViewProblem = "no name" | "name too long" | "exists" | "too many" | "too long";

/** Whether a change is stored. If storage is full or disabled, it lasts until the page reloads. */
export type Applied = "stored" | "until reload";

export type ViewOutcome = Applied | ViewProblem;

export function isApplied(outcome: ViewOutcome): outcome is Applied {
  return outcome === "stored" || outcome === "until reload";
}

/** The saved views of one person in one project. */
export class ViewShelf {
  readonly views = signal<readonly SavedView[]>([]);
  readonly #owner: string;

  constructor(subject: string | null, projectId: string, ended: AbortSignal) {
    // Encoded subjects have no slash, so that two owners never share a key.
    this.#owner = `${encodeURIComponent(subject ?? "")}/${projectId}`;
    const read = () => {
      this.views.value = readViews(this.#owner);
    };
    read();
    onViewsStoredElsewhere(this.#owner, read, ended);
  }

  /** Saves a report under a new name. */
  save(typed: string, search: string): ViewOutcome {
    const name = normalizeName(typed);
    const views = this.views.peek();
    const problem = problemOf(name, search);
    if (problem !== null) return problem;
    if (findView(views, name)) return "exists";
    if (views.length >= MAX_VIEWS) return "too many";
    return this.#store([...views, { name, search }]);
  }

  /** Saves a report in place of the view with the same name, or as a new view. */
  replace(typed: string, search: string): ViewOutcome {
    const name = normalizeName(typed);
    const before = findView(this.views.peek(), name);
    if (before === undefined) return this.save(typed, search);
    const problem = problemOf(name, search);
    return problem ?? this.#exchange(before, { name, search });
  }

  rename(view: SavedView, typed: string): ViewOutcome {
    const name = normalizeName(typed);
    const { search } = view;
    const problem = problemOf(name, search);
    if (problem !== null) return problem;
    const other = findView(this.views.peek(), name);
    if (other !== undefined && other.name !== view.name) return "exists";
    return this.#exchange(view, { name, search });
  }

  remove({ name }: SavedView): Applied {
    return this.#store(this.views.peek().filter((view) => view.name !== name));
  }

  #exchange(before: SavedView, after: SavedView): Applied {
    const views = this.views.peek();
    return this.#store(views.map((view) => (view.name === before.name ? after : view)));
  }

  #store(views: readonly SavedView[]): Applied {
    this.views.value = views;
    return storeViews(this.#owner, views) ? "stored" : "until reload";
  }
}

function problemOf(name: string, search: string): ViewProblem | null {
  if (name === "") return "no name";
  if (lengthOf(name) > MAX_NAME) return "name too long";
  return search.length > MAX_SEARCH ? "too long" : null;
}
