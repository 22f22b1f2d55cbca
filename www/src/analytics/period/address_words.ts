/**
 * Values of the report routes' address parameters. `views_address.ts` reads and writes the
 * parameters, and ignores values that the functions here reject.
 */

/** A calendar day in UTC, written `YYYY-MM-DD`. */
export type Day = string;

const PRESET_IDS = [
  "today",
  "yesterday",
  "last-7-days",
  "last-28-days",
  "last-30-days",
  "last-90-days",
  "this-month",
  "last-month",
  "last-12-months",
] as const;
export type PresetId = (typeof PRESET_IDS)[number];
export const DEFAULT_PRESET: PresetId = "last-28-days";

const COMPARISON_IDS = ["none", "previous-period", "previous-year"] as const;
export type Comparison = (typeof COMPARISON_IDS)[number];

const ARRANGEMENT_IDS = [
  "pages",
  "folders",
  "mostly-ai",
  "mostly-people",
  "least-read",
  "never-read",
  "rises",
  "falls",
  "people-rises",
  "people-falls",
  "no-clicks",
  "low-click-rate",
  "by-page",
  "grouped",
] as const;
/** A selection and arrangement of a report's rows. */
export type Arrangement = (typeof ARRANGEMENT_IDS)[number];

const INTERVAL_IDS = ["day", "week", "month"] as const;
/** The time span of one bar of the chart. */
export type Interval = (typeof INTERVAL_IDS)[number];

const COLUMN_IDS = [
  "path",
  "human",
  "ai",
  "total",
  "share",
  "change",
  "query",
  "times",
  "hits",
  "ctr",
  "clicked",
  "searched",
  "comment",
  "helpful",
  "up",
  "down",
  "code",
  "status",
  "source",
  "created",
  "answer",
  "category",
  "page",
  "asked",
] as const;
/** A column that rows can be sorted by. */
export type SortableColumn = (typeof COLUMN_IDS)[number];

export const FACET_NAMES = ["helpful", "status", "source", "answer", "category"] as const;
/** A column that rows can be filtered by. */
export type FacetName = (typeof FACET_NAMES)[number];
/** The chosen value of each filter. An empty value selects rows without one. */
export type Facets = Readonly<Partial<Record<FacetName, string>>>;

/** Returns a function that tests whether a string is one of the values. */
const isOneOf =
  <Value extends string>(values: readonly Value[]) =>
  (text: string): text is Value =>
    values.some((value) => value === text);

export const isPresetId = isOneOf(PRESET_IDS);
export const isComparison = isOneOf(COMPARISON_IDS);
export const isArrangement = isOneOf(ARRANGEMENT_IDS);
export const isInterval = isOneOf(INTERVAL_IDS);
export const isColumn = isOneOf(COLUMN_IDS);

/** Earlier years are typing errors, such as 0026. A comparison could start before the year 0. */
const FIRST_DAY: Day = "1970-01-01";

export function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || text < FIRST_DAY) return false;
  const time = startOf(text);
  return !Number.isNaN(time) && dayOf(time) === text;
}

export function dayOf(time: number): Day {
  return new Date(time).toISOString().slice(0, 10);
}

export function startOf(day: Day): number {
  return Date.parse(`${day}T00:00:00Z`);
}
