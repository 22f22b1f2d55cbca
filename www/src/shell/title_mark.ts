import { signal } from "@preact/signals";

/** What the window's title begins with, for what happens while nobody looks: "(2) ". */
export const titleMark = signal("");
