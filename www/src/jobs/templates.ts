import { signal } from "@preact/signals";
import { type Person, personOf } from "../session/claims.ts";
import { keep, onKeptElsewhere, readKept } from "./browser_storage.ts";
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

export type SaveOutcome = "saved" | "too many" | "too long";

/** A person's own templates. They stay in this browser until they are deleted. */
export class TemplateShelf {
  readonly own = signal<readonly Template[]>([]);
  readonly #name: string;

  constructor(person: Person, ended: AbortSignal) {
    this.#name = `templates.${personOf(person)}`;
    this.own.value = templatesFrom(readKept(this.#name));
    onKeptElsewhere((name) => {
      if (name === this.#name) this.own.value = templatesFrom(readKept(name));
    }, ended);
  }

  /**
   * Saves a prompt under its title. Replaces a template with the same title. Saves nothing if the
   * prompt is too long or there are too many templates.
   */
  save(text: string): SaveOutcome {
    if (text.length > MAX_TEMPLATE) return "too long";
    const name = titleOf(text);
    const others = this.own.peek().filter((template) => template.name !== name);
    if (others.length >= MAX_TEMPLATES) return "too many";
    this.#keep([...others, { name, text }]);
    return "saved";
  }

  /** Deletes a template. The returned function restores it. */
  remove(template: Template): () => void {
    const before = this.own.peek();
    this.#keep(before.filter(({ name }) => name !== template.name));
    return () => this.#keep(before);
  }

  #keep(templates: readonly Template[]): void {
    this.own.value = templates;
    keep(this.#name, templates);
  }
}

/** Returns the position of the first part to replace; null without one. */
export function firstBlank(text: string): { start: number; end: number } | null {
  const found = /\[[^\]\n]+\]/.exec(text);
  return found && { start: found.index, end: found.index + found[0].length };
}

function templatesFrom(kept: unknown): Template[] {
  if (!Array.isArray(kept)) return [];
  return kept.filter(
    (one) => typeof one?.name === "string" && typeof one.text === "string",
  ) as Template[];
}
