import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { toast } from "../shell/toast.ts";
import { COMPOSER_WORDS } from "./composer_words.ts";
import { MAX_DRAFTS } from "./draft_shelf.ts";
import type { JobBook } from "./job_book.ts";

/** Whether the panel's text box must take the focus. */
export const promptWanted = signal(false);

/** Opens the panel for a new job and focuses its prompt. */
export function openComposer(book: JobBook): void {
  book.setComposing(true);
  promptWanted.value = true;
}

/** Opens the panel with a draft of a prompt, unless there are too many drafts. */
export function compose(book: JobBook, text: string): void {
  if (book.drafts.write(text)) openComposer(book);
  else tellOfTooMany();
}

/** Opens the panel if the current draft has a problem, such as an unknown outcome. */
export function useOpenDoubt(book: JobBook): void {
  useEffect(() => {
    if (book.drafts.current.peek().problem.peek() !== null) book.setComposing(true);
  }, [book]);
}

export function tellOfTooMany(): void {
  toast({ text: COMPOSER_WORDS.tooMany(MAX_DRAFTS) });
}
