import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

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
