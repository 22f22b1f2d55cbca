import { signal, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { focusHeading } from "../shell/heading.tsx";
import { type PageTitle, usePageTitle } from "../shell/page_title.ts";

/** The id of an item. Its title takes the focus when it is rendered. */
export const wantedTitle = signal<string | null>(null);

/** The id of an item. Its row takes the focus when it is rendered. */
export const wantedRow = signal<string | null>(null);

/** Focuses the title of an opened item, or its row when the person returns to the list. */
export function useFocusOnMove(id: string | null): void {
  const before = useRef<string | null | undefined>(undefined);
  useEffect(() => {
    const from = before.current;
    before.current = id;
    if (from === undefined || from === id) return;
    if (id !== null) wantedTitle.value = id;
    else if (from !== null) wantedRow.value = from;
  }, [id]);
}

interface ItemTitle extends Pick<PageTitle, "heading" | "parent"> {
  /** The state in words; null while it is unknown. */
  state: string | null;
}

/** Sets the title of an item's page. Focuses it if the list or another item was open. */
export function useItemTitle(id: string, { heading, state, parent }: ItemTitle): void {
  usePageTitle({ heading, tab: state === null ? heading : `${heading} · ${state}`, parent });
  useSignalEffect(() => {
    if (wantedTitle.value !== id) return;
    wantedTitle.value = null;
    focusHeading();
  });
}
