import { signal } from "@preact/signals";

/** The job whose title takes the focus once it is shown. */
export const wantedTitle = signal<string | null>(null);

/** The job whose row takes the focus once it is listed. */
export const wantedRow = signal<string | null>(null);
