import type { ComponentChildren, RefObject } from "preact";
import { parseInstant } from "quillgate/values";
import type { AddressChange } from "../shell/address.ts";
import { Link } from "../shell/link.tsx";
import { TimeAgo } from "../shell/time_ago.tsx";
import * as styles from "./today.module.css";
import { TODAY_WORDS } from "./words.ts";

export type SectionName = keyof typeof TODAY_WORDS.nothing;
export type Heading = RefObject<HTMLHeadingElement | null>;

interface CardProps {
  name: SectionName;
  link: AddressChange;
  heading?: Heading | undefined;
  children: ComponentChildren;
}

/** One section of *Today*. */
export function Card({ name, link, heading, children }: CardProps) {
  const id = `today-${name}`;
  return (
    <section class={`stack ${styles.section}`} aria-labelledby={id}>
      <div class={styles.head}>
        <h2 ref={heading ?? null} id={id} tabIndex={-1}>
          {TODAY_WORDS[name]}
        </h2>
        <Link to={link} aria-describedby={id}>
          {TODAY_WORDS.all}
        </Link>
      </div>
      {children}
    </section>
  );
}

interface RowsProps<Row> {
  name: SectionName;
  /** Null while loading. */
  rows: readonly Row[] | null;
  renderRow(row: Row, place: number): ComponentChildren;
}

export function Rows<Row>({ name, rows, renderRow }: RowsProps<Row>) {
  if (rows === null) return <p class="hint">{TODAY_WORDS.loading}</p>;
  if (rows.length === 0) return <p class="hint">{TODAY_WORDS.nothing[name]}</p>;
  return <ol class={`${styles.rows} card`}>{rows.map(renderRow)}</ol>;
}

export interface ItemContent {
  text: string;
  /** Null if the row has no route. */
  link: AddressChange | null;
  detail?: string;
  figure: ComponentChildren;
}

interface ItemProps extends ItemContent {
  /** The action. */
  children: ComponentChildren;
}

export function Item({ text, link, detail, figure, children }: ItemProps) {
  return (
    <li class={styles.row}>
      <p class={styles.text} translate={false}>
        {link === null ? text : <Link to={link}>{text}</Link>}
        {detail !== undefined && <span class={`hint ${styles.detail}`}>{detail}</span>}
      </p>
      <p class={`hint ${styles.figure}`} translate={false}>
        {figure}
      </p>
      <div class={styles.action}>{children}</div>
    </li>
  );
}

export function RowTime({ at }: { at: string | null }) {
  const time = parseInstant(at);
  return time === null ? null : <TimeAgo at={time} />;
}
