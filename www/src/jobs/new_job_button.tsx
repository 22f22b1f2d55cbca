import { useEffect, useRef } from "preact/hooks";
import type { JobBook } from "./job_book.ts";
import { openComposer } from "./open_composer.ts";
import { LIST_WORDS } from "./words.ts";

let shown: HTMLButtonElement | null = null;

/** Returns the focus to the button after its panel closes. */
export function focusNewJob(): void {
  requestAnimationFrame(() => shown?.focus());
}

interface NewJobButtonProps {
  book: JobBook;
  /** Whether a new job is the main action of the page. */
  isMain: boolean;
}

export function NewJobButton({ book, isMain }: NewJobButtonProps) {
  const isOpen = book.composing.value;
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    const own = button.current;
    shown = own;
    return () => {
      if (shown === own) shown = null;
    };
  }, []);
  return (
    <button
      ref={button}
      type="button"
      class={isMain && !isOpen ? "primary" : ""}
      aria-expanded={isOpen}
      onClick={() => openComposer(book)}
    >
      {LIST_WORDS.newJob}
    </button>
  );
}
