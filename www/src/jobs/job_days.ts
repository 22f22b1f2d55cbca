import type { ListedJob } from "quillgate";
import { parseInstant } from "quillgate/values";
import { calendarDay } from "../shell/wording.ts";
import { LIST_WORDS } from "./words.ts";

/** Consecutive jobs of one day. */
export interface JobDay {
  /** Unique in a list, where jobs with an unknown creation time can split a day. */
  key: string;
  /** "Today", "Yesterday" or a date; null if the creation time is unknown. */
  label: string | null;
  jobs: ListedJob[];
}

/** Groups jobs by creation day in the browser's time zone. Keeps their order. */
export function groupByDay(jobs: readonly ListedJob[], today: number): JobDay[] {
  const days: JobDay[] = [];
  for (const job of jobs) {
    const label = labelOf(job, today);
    const day = days.at(-1);
    if (day !== undefined && day.label === label) day.jobs.push(job);
    else days.push({ key: `${label} ${countLabel(days, label)}`, label, jobs: [job] });
  }
  return days;
}

function countLabel(days: readonly JobDay[], label: string | null): number {
  return days.filter((day) => day.label === label).length;
}

function labelOf({ createdAt }: ListedJob, today: number): string | null {
  const created = parseInstant(createdAt);
  if (created === null) return null;
  const day = new Date(created).setHours(0, 0, 0, 0);
  if (day >= today) return LIST_WORDS.today;
  if (day === yesterdayOf(today)) return LIST_WORDS.yesterday;
  return calendarDay(day, today);
}

/** Subtracts a calendar day, because days with a clock change do not have 24 hours. */
function yesterdayOf(today: number): number {
  const date = new Date(today);
  return date.setDate(date.getDate() - 1);
}
