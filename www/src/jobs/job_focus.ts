import { signal } from "@preact/signals";

/** The job whose title takes the focus when it is rendered. */
export const wantedTitle = signal<string | null>(null);

/** The job whose row takes the focus when it is rendered. */
export const wantedRow = signal<string | null>(null);
