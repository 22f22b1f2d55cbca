import { parseInstant } from "quillgate/values";
import { calendarDay } from "../shell/wording.ts";
import { LIVE_WORDS } from "./words.ts";

/** Consecutive items of one day. */
export interface Day<Item> {
  /** Unique in a list, where items with an unknown creation time can split a day. */
  key: string;
  /** "Today", "Yesterday" or a date; null if the creation time is unknown. */
  label: string | null;
  items: Item[];
}

/** Groups items by creation day in the browser's time zone. Keeps their order. */
export function groupByDay<Item extends { createdAt: string | null }>(
  items: readonly Item[],
  today: number,
): Day<Item>[] {
  const days: Day<Item>[] = [];
  for (const item of items) {
    const label = labelOf(item.createdAt, today);
    const day = days.at(-1);
    if (day !== undefined && day.label === label) day.items.push(item);
    else days.push({ key: `${label} ${countLabel(days, label)}`, label, items: [item] });
  }
  return days;
}

function countLabel(days: readonly Day<unknown>[], label: string | null): number {
  return days.filter((day) => day.label === label).length;
}

function labelOf(createdAt: string | null, today: number): string | null {
  const created = parseInstant(createdAt);
  if (created === null) return null;
  const day = new Date(created).setHours(0, 0, 0, 0);
  if (day >= today) return LIVE_WORDS.today;
  if (day === yesterdayOf(today)) return LIVE_WORDS.yesterday;
  return calendarDay(day, today);
}

/** Subtracts a calendar day, because days with a clock change can lack 24 hours or a midnight. */
function yesterdayOf(today: number): number {
  const date = new Date(today);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() - 1).getTime();
}
