import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { toast } from "../shell/toast.ts";
import { MAX_DRAFTS } from "./draft_shelf.ts";
import type { JobBook } from "./job_book.ts";

/** What opens the panel for a new job, and has the focus again when it is closed. */
export const NEW_JOB_BUTTON = "new-job-button";

/** Whether the focus is to go to the panel's text box as soon as that is there. */
export const promptWanted = signal(false);

/** Opens the panel for a new job, with the focus in its text box. */
export function openComposer(book: JobBook): void {
  book.setComposing(true);
  promptWanted.value = true;
}

/** Opens the panel with a text, beside what is written there already. */
export function compose(book: JobBook, text: string): void {
  if (book.drafts.write(text)) openComposer(book);
  else tellOfTooMany();
}

/** Opens the panel again where there is something that the person has to decide. */
export function useOpenDoubt(book: JobBook): void {
  useEffect(() => {
    if (book.drafts.current.peek().problem.peek() !== null) book.setComposing(true);
  }, [book]);
}

export function tellOfTooMany(): void {
  toast({ text: `You have ${MAX_DRAFTS} drafts. Send or discard one first.` });
}
