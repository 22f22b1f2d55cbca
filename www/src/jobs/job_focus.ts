import { signal } from "@preact/signals";

/** The job whose title is to have the focus as soon as it is shown. */
export const wantedTitle = signal<string | null>(null);
