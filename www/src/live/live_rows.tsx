import { effect } from "@preact/signals";
import type { ComponentChildren, RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { parseInstant } from "quillgate/values";
import type { AddressChange } from "../shell/address.ts";
import { now, today } from "../shell/clock.ts";
import { DAY_MS } from "../shell/durations.ts";
import { followLink, linkTo } from "../shell/navigation.ts";
import { TimeAgo } from "../shell/time_ago.tsx";
import { dayAndTime } from "../shell/wording.ts";
import { groupByDay } from "./days.ts";
import * as styles from "./live_rows.module.css";
import type { State } from "./state.ts";
import { runningFor } from "./time.ts";
import { ToneIcon } from "./tone_icon.tsx";
import { wantedRow } from "./wanted_focus.ts";

/** The content of a row. */
export interface LiveRow {
  id: string;
  state: State;
  title: string;
  /** The second line of the title. */
  detail?: string | null;
  /** Opens the item. */
  change: AddressChange;
  createdBy: string | null;
  createdAt: string | null;
  isRunning: boolean;
  /** The item's link to another site. */
  link?: ComponentChildren;
}

interface LiveRowsProps {
  rows: readonly LiveRow[];
  isBusy: boolean;
  /** Receives the id of the focused row. It stays when the row is removed. */
  focused?: RefObject<string | null> | undefined;
}

/** The rows of a live list, grouped by day. */
export function LiveRows({ rows, isBusy, focused }: LiveRowsProps) {
  return (
    <>
      {groupByDay(rows, today.value).map(({ key, label, items }) => (
        <div key={key} class={`stack ${styles.day}`}>
          {label !== null && <h3>{label}</h3>}
          <ol class={`${styles.ledger} card`} aria-busy={isBusy}>
            {items.map((row) => (
              <Row key={row.id} row={row} focused={focused} />
            ))}
          </ol>
        </div>
      ))}
    </>
  );
}

interface RowProps extends Pick<LiveRowsProps, "focused"> {
  row: LiveRow;
}

function Row({ row, focused }: RowProps) {
  const { id, title, detail = null, change, createdBy, link = null } = row;
  const { tone, word } = row.state;
  const anchor = useRef<HTMLAnchorElement>(null);
  // Not `useSignalEffect`, which waits for the next frame: the next key acts on the focused row.
  useLayoutEffect(
    () =>
      effect(() => {
        if (wantedRow.value !== id) return;
        wantedRow.value = null;
        anchor.current?.focus();
      }),
    [id],
  );
  return (
    <li class={styles.row}>
      <p id={`state-${id}`} class={`pill tone-${tone}`}>
        <ToneIcon tone={tone} />
        {word}
      </p>
      <div class={styles.subject}>
        <a
          ref={anchor}
          class={styles.title}
          href={linkTo(change)}
          aria-describedby={`state-${id} facts-${id}`}
          onClick={(event) => followLink(event, change)}
          onFocus={() => {
            if (focused) focused.current = id;
          }}
          onBlur={({ relatedTarget }) => {
            // Without a target, the row was removed or another window got the focus.
            if (focused && relatedTarget !== null) focused.current = null;
          }}
        >
          {title}
        </a>
        {detail !== null && <p class={`hint ${styles.detail}`}>{detail}</p>}
      </div>
      <p id={`facts-${id}`} class={`hint ${styles.facts}`}>
        {createdBy !== null && <span class={styles.author}>{createdBy}</span>}
        <RowTime row={row} />
      </p>
      {link}
    </li>
  );
}

function RowTime({ row: { createdAt, isRunning } }: Pick<RowProps, "row">) {
  const created = parseInstant(createdAt);
  if (created === null) return null;
  const isRecent = isRunning && today.value - created < DAY_MS;
  return isRecent ? <Running since={created} /> : <TimeAgo at={created} />;
}

/** Only this part of a row updates every second. */
function Running({ since }: { since: number }) {
  const age = now.value - since;
  if (age >= DAY_MS) return <TimeAgo at={since} />;
  return (
    <time dateTime={new Date(since).toISOString()} title={dayAndTime(since)}>
      {runningFor(age)}
    </time>
  );
}
