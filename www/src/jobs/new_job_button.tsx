import type { JobBook } from "./job_book.ts";
import { NEW_JOB_BUTTON, openComposer } from "./open_composer.ts";

/** Opens the panel for a new job, and has the focus again when that is closed. */
export function NewJobButton({ book }: { book: JobBook }) {
  const isOpen = book.composing.value;
  return (
    <button
      id={NEW_JOB_BUTTON}
      type="button"
      class={isOpen ? "" : "primary"}
      aria-expanded={isOpen}
      onClick={() => openComposer(book)}
    >
      New job
    </button>
  );
}
