import { type ReadonlySignal, useSignal } from "@preact/signals";
import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { announce } from "../shell/announcer.tsx";
import { registerKeys } from "../shell/keys.ts";
import { ProblemPanel } from "../shell/problem_panel.tsx";
import { counted } from "../shell/wording.ts";
import * as styles from "./listed.module.css";
import type { Listing } from "./listing.ts";
import type { LiveList } from "./live_list.ts";
import * as rowStyles from "./live_rows.module.css";
import { wantedRow } from "./wanted_focus.ts";
import { LIVE_WORDS } from "./words.ts";

export type HeadingRef = { current: HTMLHeadingElement | null };

/** The parts of a list that this component uses, with any filter. */
type AnyList<Item> = Pick<
  LiveList<Item, never>,
  "problem" | "busy" | "refresh" | "showMore" | "idOf"
> & { listing: ReadonlySignal<Listing<Item> | null> };

interface ListedProps<Item> {
  list: AnyList<Item>;
  /** As in "1 job". */
  noun: string;
  /** The names of the shortcuts, in this group. */
  keys: { group: string; next: string; previous: string };
  heading: HeadingRef;
  renderRows(items: readonly Item[], focused: RefObject<string | null>): ComponentChildren;
  /** Shown without items. */
  empty: ComponentChildren;
  /** Shown above "Show more". */
  children?: ComponentChildren;
}

/** Shows the items of a live list, its problem, and a button for older items. */
export function Listed<Item>(props: ListedProps<Item>) {
  const { list, noun, heading } = props;
  const focused = useRef<string | null>(null);
  const isLoadingMore = useSignal(false);
  const listing = list.listing.value;
  const problem = list.problem.value;
  const ids = listing?.items.map((item) => list.idOf(item));
  useMissingRow(ids, heading);
  useFocusWithin(focused, ids, heading);
  useRowKeys(focused, list, props.keys);

  async function showMore() {
    if (isLoadingMore.peek()) return;
    const shown = new Set(ids);
    isLoadingMore.value = true;
    const isLoaded = await list.showMore();
    isLoadingMore.value = false;
    if (!isLoaded) return;
    const all = idsOf(list);
    const firstAdded = all.findLastIndex((id) => shown.has(id)) + 1;
    announce(LIVE_WORDS.added(counted(all.length - firstAdded, `more ${noun}`)));
    // The pressed button may have disappeared.
    wantedRow.value = all[firstAdded] ?? null;
  }

  return (
    <div class={`stack ${styles.rows}`}>
      {problem && <ProblemPanel problem={problem} onRetry={() => list.refresh("person")} />}
      {listing === null && problem === null && <Waiting />}
      {listing?.items.length === 0 && props.empty}
      {listing !== null && listing.items.length > 0 && (
        <>
          <p class="hint">{countShown(listing, noun)}</p>
          {props.renderRows(listing.items, focused)}
        </>
      )}
      {listing !== null && props.children}
      {listing !== null && listing.more !== null && (
        <button
          type="button"
          class={styles.more}
          aria-disabled={isLoadingMore.value}
          onClick={showMore}
        >
          {LIVE_WORDS.showMore}
        </button>
      )}
    </div>
  );
}

/** Returns "2 jobs", or "Newest 25 jobs" if there are more. */
export function countShown(listing: Listing<unknown> | null, noun: string): string {
  const items = counted(listing?.items.length ?? 0, noun);
  return listing?.more ? LIVE_WORDS.newest(items) : items;
}

function idsOf<Item>(list: AnyList<Item>): string[] {
  return (list.listing.peek()?.items ?? []).map((item) => list.idOf(item));
}

/** Focuses the heading if the row to focus is not listed. */
function useMissingRow(ids: readonly string[] | undefined, heading: HeadingRef): void {
  const wanted = wantedRow.value;
  useEffect(() => {
    if (wanted === null || ids === undefined || ids.includes(wanted)) return;
    wantedRow.value = null;
    heading.current?.focus();
  }, [wanted, ids?.join()]);
}

/** When an update removes the focused row, focuses the row that takes its place. */
function useFocusWithin(
  focused: RefObject<string | null>,
  ids: readonly string[] | undefined,
  heading: HeadingRef,
): void {
  const before = useRef<readonly string[]>([]);
  // Read during render, before the update. A click on the background takes the focus, too.
  const hadFocus = document.activeElement !== document.body;
  useLayoutEffect(() => {
    const place = before.current.indexOf(focused.current ?? "");
    before.current = ids ?? [];
    const hasLostFocus = hadFocus && document.activeElement === document.body;
    if (place === -1 || ids === undefined || !hasLostFocus) return;
    const next = ids[Math.min(place, ids.length - 1)];
    if (next !== undefined) wantedRow.value = next;
    else heading.current?.focus();
  }, [ids?.join()]);
}

/** Moves between rows with "j" and "k". Enter opens the focused row, which is a link. */
function useRowKeys<Item>(
  focused: RefObject<string | null>,
  list: AnyList<Item>,
  { group, next, previous }: ListedProps<Item>["keys"],
): void {
  useLayoutEffect(() => {
    const move = (step: 1 | -1) => {
      const ids = idsOf(list);
      const at = ids.indexOf(focused.current ?? "");
      const to = at === -1 && step === -1 ? ids.length - 1 : at + step;
      wantedRow.value = ids[Math.min(Math.max(to, 0), ids.length - 1)] ?? null;
    };
    return registerKeys(group, [
      { keys: "j", label: next, run: () => move(1) },
      { keys: "k", label: previous, run: () => move(-1) },
    ]);
  }, [list]);
}

/** Placeholder rows until the first response. */
function Waiting() {
  return (
    <div class={`${rowStyles.ledger} card`} aria-hidden="true">
      {[1, 2, 3].map((row) => (
        <div key={row} class={rowStyles.row}>
          <span class={styles.line} />
        </div>
      ))}
    </div>
  );
}
