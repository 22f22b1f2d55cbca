import { count, counted, signedCount, wholePercent } from "../shell/wording.ts";

/** The strings about the effect of a merged pull request. */
export const EFFECT_WORDS = {
  title: (path: string) => `Effect on ${path}`,
  merged: (day: string) => `Merged ${day}`,
  tooEarly: (day: string) => `Too early to tell. Come back on ${day}, after seven whole days.`,
  noArchive:
    "This gateway doesn’t archive the project’s daily views, so views can’t be compared. Ask your gateway admin.",
  before: "Before",
  after: "After",
  change: "Change",
  people: "Views by people",
  ai: "Views by AI",
  helpful: "Helpful ratings",
  searches: "Searches that led here",
  ratings: (helpful: number, all: number, isPart: boolean) =>
    all === 0 ? "No ratings" : `${isPart ? "≥ " : ""}${count(helpful)} of ${count(all)}`,
  unknown: "Not known",
  searchesOf: (searches: number, isPart: boolean) => `${isPart ? "≥ " : ""}${count(searches)}`,
  changeOf: (before: number, after: number) => {
    const change = signedCount(after - before);
    if (before === after || before === 0) return change;
    return `${change} (${after > before ? "+" : "−"}${wholePercent(Math.abs(after - before) / before)})`;
  },
  missing: (days: number) => `${counted(days, "day")} without data.`,
  load: (requests: number) => `Compare ratings and searches, for ${counted(requests, "request")}`,
  loading: "Loading…",
  caveat: "Other things can have changed at the same time.",
} as const;
