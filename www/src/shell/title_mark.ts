import { signal } from "@preact/signals";

/** A prefix of the window's title: "(2) " for running jobs, "✓ " or "✗ " for unseen results. */
export const titleMark = signal("");
