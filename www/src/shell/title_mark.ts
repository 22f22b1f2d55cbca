import { signal } from "@preact/signals";

/** A prefix of the window's title that shows events while the tab is hidden: "(2) ". */
export const titleMark = signal("");
