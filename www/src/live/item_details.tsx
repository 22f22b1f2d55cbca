import type { ComponentChildren } from "preact";
import { parseInstant } from "quillgate/values";
import type { AddressChange } from "../shell/address.ts";
import { now } from "../shell/clock.ts";
import { CopyButton } from "../shell/copy_button.tsx";
import { linkTo } from "../shell/navigation.ts";
import { relativeTime } from "../shell/relative_time.ts";
import { dayAndTime } from "../shell/wording.ts";
import * as styles from "./item_details.module.css";
import { LIVE_WORDS } from "./words.ts";

export type ItemFact = [name: string, value: string | null];

interface ItemFactsProps {
  title: string;
  /** Values of null are left out. */
  rows: readonly ItemFact[];
  id: string;
  /** Opens the item. */
  change: AddressChange;
  /** The label of the button that copies the item's address. */
  copyLink: string;
  /** More actions. */
  children?: ComponentChildren;
}

/** Shows the properties of an item. */
export function ItemFacts({ title, rows, id, change, copyLink, children }: ItemFactsProps) {
  return (
    <section>
      <h2>{title}</h2>
      <dl class="facts">
        {rows
          .filter(([, value]) => value !== null)
          .map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
      </dl>
      <div class="actions">
        <CopyButton label={LIVE_WORDS.copyId} text={id} />
        <CopyButton label={copyLink} text={location.origin + location.pathname + linkTo(change)} />
        {children}
      </div>
    </section>
  );
}

/** Formats an instant. Returns a value with another format unchanged. */
export function showInstant(text: string | null): string | null {
  const instant = parseInstant(text);
  return instant === null ? text : dayAndTime(instant);
}

interface FreshnessProps {
  newsAt: number | null;
  isWatched: boolean;
  isLoading: boolean;
  onCheck(): void;
}

/** Shows the time of an item's last update. */
export function Freshness({ newsAt, isWatched, isLoading, onCheck }: FreshnessProps) {
  return (
    <div class={styles.freshness}>
      <p class="hint">
        {isWatched && `${LIVE_WORDS.watching} `}
        {newsAt !== null && LIVE_WORDS.updatedAgo(relativeTime(newsAt, now.value))}
      </p>
      <button type="button" class="quiet" aria-disabled={isLoading} onClick={onCheck}>
        {LIVE_WORDS.checkNow}
      </button>
    </div>
  );
}
