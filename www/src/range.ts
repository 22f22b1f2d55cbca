/** A calendar day in UTC, written `YYYY-MM-DD`. */
export type Day = string;

/** Whole days as a person says them: the first and the last are both counted. */
export interface DayRange {
  from: Day;
  to: Day;
}

/** The same days as the API wants them: `dateTo` is the first moment left out. */
export interface Bounds {
  dateFrom: string;
  dateTo: string;
  /** Set when the range is still running: the instant at which it is cut off. */
  frozenAt: number | null;
}

export type PresetId =
  | "last-7-days"
  | "last-28-days"
  | "last-30-days"
  | "last-90-days"
  | "this-month"
  | "last-month";

export const PRESETS: readonly { id: PresetId; label: string }[] = [
  { id: "last-7-days", label: "Last 7 days" },
  { id: "last-28-days", label: "Last 28 days" },
  { id: "last-30-days", label: "Last 30 days" },
  { id: "last-90-days", label: "Last 90 days" },
  { id: "this-month", label: "This month" },
  { id: "last-month", label: "Last month" },
];

export const DEFAULT_PRESET: PresetId = "last-28-days";

const DAY_MS = 86_400_000;
/** Everybody who looks within the same five minutes asks for the same range. */
const FREEZE_STEP_MS = 300_000;

export function isPresetId(text: string): text is PresetId {
  return PRESETS.some((preset) => preset.id === text);
}

export function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && dayOf(time) === text;
}

export function dayOf(time: number): Day {
  return new Date(time).toISOString().slice(0, 10);
}

export function addDays(day: Day, count: number): Day {
  return dayOf(startOf(day) + count * DAY_MS);
}

/** The days of a preset, ending today: the day that `now` falls on in UTC. */
export function presetRange(id: PresetId, now: number): DayRange {
  const today = dayOf(now);
  const firstOfMonth = `${today.slice(0, 8)}01`;
  switch (id) {
    case "last-7-days":
      return { from: addDays(today, -6), to: today };
    case "last-28-days":
      return { from: addDays(today, -27), to: today };
    case "last-30-days":
      return { from: addDays(today, -29), to: today };
    case "last-90-days":
      return { from: addDays(today, -89), to: today };
    case "this-month":
      return { from: firstOfMonth, to: today };
    case "last-month": {
      const to = addDays(firstOfMonth, -1);
      return { from: `${to.slice(0, 8)}01`, to };
    }
  }
}

/** Why these two inputs are no range, in words for the person who typed them; null when fine. */
export function rangeProblem(range: DayRange): string | null {
  if (!isDay(range.from)) return "Choose the first day.";
  if (!isDay(range.to)) return "Choose the last day.";
  if (range.to < range.from) return "The last day is before the first day.";
  return null;
}

/**
 * The bounds to ask for. A range that is not over yet is cut off at `now`, rounded down to five
 * minutes, so that every page of one listing counts the same moments.
 */
export function boundsOf(range: DayRange, now: number): Bounds {
  const end = addDays(range.to, 1);
  const frozenAt = Math.floor(now / FREEZE_STEP_MS) * FREEZE_STEP_MS;
  // Cut off at its own beginning, the range would be empty.
  const running = startOf(range.from) < frozenAt && frozenAt < startOf(end);
  if (!running) return { dateFrom: range.from, dateTo: end, frozenAt: null };
  const instant = `${new Date(frozenAt).toISOString().slice(0, 19)}Z`;
  return { dateFrom: range.from, dateTo: instant, frozenAt };
}

/** Says in words which days are counted and where the range stops. */
export function rangeSentence(range: DayRange, frozenAt: number | null): string {
  const days = `${longDay(range.from)} up to, but not including, ${longDay(addDays(range.to, 1))} (UTC)`;
  if (frozenAt === null) return `Counts views from ${days}.`;
  const time = new Date(frozenAt).toISOString().slice(11, 16);
  return `Counts views from ${days}. Today is counted until ${time} UTC.`;
}

const LONG_DAY = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" });

function longDay(day: Day): string {
  return LONG_DAY.format(startOf(day));
}

function startOf(day: Day): number {
  return Date.parse(`${day}T00:00:00Z`);
}
