import { signal } from "@preact/signals";

/** The id of a job. Its title takes the focus when it is rendered. */
export const wantedTitle = signal<string | null>(null);

/** The id of a job. Its row takes the focus when it is rendered. */
export const wantedRow = signal<string | null>(null);
