import { computed } from "@preact/signals";
import { type Kept, KeptList } from "../session/kept_list.ts";
import type { Applied, PersonData } from "../session/person_data.ts";
import {
  lengthOf,
  MAX_NAME,
  MAX_SEARCH,
  MAX_VIEWS,
  normalizeName,
  type SavedView,
  viewFrom,
} from "./saved_view.ts";

/** Why a view was not saved or renamed. Nothing has changed. */
export type ViewProblem = "no name" | "name too long" | "exists" | "too many" | "too long";

export type ViewOutcome = Applied | ViewProblem;

export function isApplied(outcome: ViewOutcome): outcome is Applied {
  return outcome === "stored" || outcome === "until reload";
}

/** The saved views of one person in one project. */
export class ViewShelf {
  readonly views = computed((): readonly SavedView[] => this.#shown.value.map(({ item }) => item));
  readonly #kept: KeptList<SavedView>;
  /** Two tabs may have saved the same name at the same time. */
  readonly #shown = computed(() => {
    const names = new Set<string>();
    return this.#kept.all.value
      .filter(({ item: { name } }) => {
        const isFirst = !names.has(name.toLowerCase());
        names.add(name.toLowerCase());
        return isFirst;
      })
      .slice(0, MAX_VIEWS);
  });

  constructor(data: PersonData, projectId: string, ended: AbortSignal) {
    this.#kept = new KeptList(data, ["view", projectId], viewFrom, ended);
  }

  /** Saves a report under a new name. */
  save(typed: string, search: string): ViewOutcome {
    const name = normalizeName(typed);
    const problem = problemOf(name, search) ?? this.#conflictOf(name);
    return problem ?? this.#kept.put(crypto.randomUUID(), { name, search });
  }

  /** Saves a report in place of the view with the same name, or as a new view. */
  replace(typed: string, search: string): ViewOutcome {
    const name = normalizeName(typed);
    const before = this.#find(name);
    if (before === undefined) return this.save(typed, search);
    return problemOf(name, search) ?? this.#kept.restore({ ...before, item: { name, search } });
  }

  rename(view: SavedView, typed: string): ViewOutcome {
    const name = normalizeName(typed);
    const { search } = view;
    const before = this.#find(view.name);
    const other = this.#find(name);
    const problem = problemOf(name, search);
    if (problem !== null) return problem;
    if (other !== undefined && other !== before) return "exists";
    if (before === undefined) return this.save(typed, search);
    return this.#kept.restore({ ...before, item: { name, search } });
  }

  /** Deletes a view. The returned function restores it in its place. */
  remove({ name }: SavedView): () => ViewOutcome {
    const kept = this.#find(name);
    if (kept === undefined) return () => "exists";
    this.#kept.remove(kept);
    return () => this.#conflictOf(name) ?? this.#kept.restore(kept);
  }

  #conflictOf(name: string): ViewProblem | null {
    if (this.#find(name)) return "exists";
    return this.#shown.peek().length >= MAX_VIEWS ? "too many" : null;
  }

  /** Returns the view with a name, ignoring case. */
  #find(name: string): Kept<SavedView> | undefined {
    const wanted = name.toLowerCase();
    return this.#shown.peek().find(({ item }) => item.name.toLowerCase() === wanted);
  }
}

function problemOf(name: string, search: string): ViewProblem | null {
  if (name === "") return "no name";
  if (lengthOf(name) > MAX_NAME) return "name too long";
  return search.length > MAX_SEARCH ? "too long" : null;
}
