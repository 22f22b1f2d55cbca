import { computed } from "@preact/signals";
import { KeptList } from "../session/kept_list.ts";
import type { Applied, PersonData } from "../session/person_data.ts";
import { titleOf } from "./job_state.ts";

export interface Template {
  name: string;
  text: string;
}

/** Square brackets mark the parts to replace. */
export const BUILT_IN: readonly Template[] = [
  {
    name: "Document a new feature",
    text:
      "Add a page about [feature] to the section [section].\n\n" +
      "Say what it is for, how to turn it on, and show one complete example. Link it from [page].",
  },
  {
    name: "Update pages after a change",
    text:
      "[What has changed, and since which version.]\n\n" +
      "Find every page that still describes the old behavior and correct it. Leave other pages alone.",
  },
  {
    name: "Fix typos and broken links",
    text:
      "Fix typos, broken links and wrong anchors in [section or all pages].\n\n" +
      "Do not change the meaning, headings or file names.",
  },
  {
    name: "Add an example",
    text:
      "Add an example in [language] to [page]: [what it should show].\n\n" +
      "It must be complete, so that it can be copied and run. Follow the style of the examples there.",
  },
  {
    name: "Write the changelog",
    text:
      "Add an entry for [version] to the changelog.\n\n" +
      "Group what has changed into added, changed and fixed, from the point of view of a user:\n[notes]",
  },
];

export const MAX_TEMPLATES = 20;
const MAX_TEMPLATE = 10_000;

/** Whether a template was saved, or why nothing has changed. */
export type SaveOutcome = Applied | "exists" | "too many" | "too long";

/** A person's own templates. They stay until they are deleted or the person signs out. */
export class TemplateShelf {
  readonly own = computed(() => this.#kept.all.value.map(({ item }) => item));
  readonly #kept: KeptList<Template>;

  constructor(data: PersonData, ended: AbortSignal) {
    this.#kept = new KeptList(data, ["template"], templateFrom, ended);
  }

  /**
   * Saves a prompt under its title. Replaces a template with the same title. Saves nothing if the
   * prompt is too long or there are too many templates.
   */
  save(text: string): SaveOutcome {
    if (text.length > MAX_TEMPLATE) return "too long";
    const name = titleOf(text);
    if (this.#kept.find(name) === null && this.#isFull()) return "too many";
    return this.#kept.put(name, { name, text });
  }

  /** Deletes a template. The returned function restores it, unless a newer one has its title. */
  remove({ name }: Template): () => SaveOutcome {
    const kept = this.#kept.find(name);
    if (kept === null) return () => "exists";
    this.#kept.remove(kept);
    return () => {
      if (this.#kept.find(name) !== null) return "exists";
      return this.#isFull() ? "too many" : this.#kept.restore(kept);
    };
  }

  #isFull(): boolean {
    return this.#kept.all.peek().length >= MAX_TEMPLATES;
  }
}

function templateFrom(value: unknown): Template | null {
  const { name, text } = Object(value) as Partial<Record<keyof Template, unknown>>;
  return typeof name === "string" && typeof text === "string" ? { name, text } : null;
}
