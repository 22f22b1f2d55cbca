import { parseInstant } from "quillgate/values";
import { foldText } from "../../shell/readable_text.ts";
import type { ReportRow } from "./report.ts";
import { countOf, groupRows, numberOf, textOf } from "./rows.ts";

/** Shorter terms are mostly the start of a word. */
const MIN_LETTERS = 3;
/** Scripts in which one or two characters are a word. */
const DENSE =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}]/u;

/**
 * Returns one row for each group of questions that readers wrote in nearly the same way, most
 * frequent first. Texts of a group have the same letters and digits: case, punctuation, spaces and
 * the form of characters differ.
 */
export function groupQuestions(rows: readonly ReportRow[]): ReportRow[] {
  // Questions without a letter are equal only if all characters are.
  const groups = groupRows(rows, (row) => wordsIn(row) || queryOf(row).trim());
  return byFrequency([...groups.values()].map(toQuestion), "times");
}

/**
 * Returns one row for each group of search terms, most frequent first. Also folds the beginning of a
 * word, which a search box sends while readers type, into the most frequent term that continues it.
 * Leaves out terms with fewer than three letters.
 */
export function groupTerms(rows: readonly ReportRow[]): ReportRow[] {
  const groups = groupRows(rows, wordsIn);
  groups.delete("");
  const counts = new Map([...groups].map(([words, group]) => [words, sumOf(group, "hits")]));
  const ordered = [...counts.keys()].sort();
  const wholes = new Map(ordered.map((words, at) => [words, continuationOf(at, ordered, counts)]));
  const whole = groupRows(rows, (row) => finalOf(wordsIn(row), wholes));
  const kept = [...whole].filter(([words]) => !isShort(words));
  return byFrequency(
    kept.map(([words, group]) => toTerm(words, group)),
    "hits",
  );
}

/** Returns the words of a question or term. They are equal within a group. */
function wordsOf(text: string): string {
  return foldText(text)
    .replace(/[^\p{L}\p{M}\p{N}+#]+/gu, " ")
    .trim();
}

function queryOf({ query }: ReportRow): string {
  return textOf(query) ?? "";
}

function wordsIn(row: ReportRow): string {
  return wordsOf(queryOf(row));
}

function isShort(words: string): boolean {
  return [...words].length < MIN_LETTERS && !DENSE.test(words);
}

/**
 * Returns the most frequent term that continues a beginning within a word, or the term itself. A
 * beginning that is more frequent is a word, such as "java" beside "javascript".
 */
function continuationOf(
  at: number,
  ordered: readonly string[],
  counts: ReadonlyMap<string, number>,
): string {
  const words = ordered[at] ?? "";
  let [best, most] = [words, Math.max(1, counts.get(words) ?? 0)];
  // In order, the terms that continue a beginning follow it.
  for (let i = at + 1; ordered[i]?.startsWith(words); i += 1) {
    const other = ordered[i] ?? "";
    const count = counts.get(other) ?? 0;
    if (other[words.length] !== " " && count >= most) [best, most] = [other, count];
  }
  return best;
}

/** Follows continuations to the last one. Each is longer than the one before. */
function finalOf(words: string, wholes: ReadonlyMap<string, string>): string {
  const next = wholes.get(words) ?? words;
  return next === words ? words : finalOf(next, wholes);
}

function toQuestion(rows: readonly ReportRow[]): ReportRow {
  const spellings = spellingsOf(rows, () => 1);
  const first = rows.find(({ query }) => (query ?? "") === spellings[0]) ?? {};
  const isUnanswered = rows.some(({ answer }) => answer === "unanswered");
  return {
    ...first,
    answer: isUnanswered ? "unanswered" : (first.answer ?? null),
    asked: latestOf(rows, "asked"),
    times: rows.length,
    spellings,
  };
}

/** The row has the name of the whole term, even if its beginnings are more frequent. */
function toTerm(words: string, rows: readonly ReportRow[]): ReportRow {
  const isWhole = (row: ReportRow) => wordsIn(row) === words;
  const timesOf = ({ hits }: ReportRow) => numberOf(hits);
  const spellings = [
    ...spellingsOf(rows.filter(isWhole), timesOf),
    ...spellingsOf(
      rows.filter((row) => !isWhole(row)),
      timesOf,
    ),
  ];
  const first = rows.find(({ query }) => query === spellings[0]) ?? {};
  const searched = rows.filter(({ hits }) => numberOf(hits) > 0);
  // One unknown click rate makes that of the group unknown.
  const isRated = searched.length > 0 && searched.every(({ ctr }) => countOf(ctr) !== null);
  const clicks = searched.reduce((sum, { hits, ctr }) => sum + numberOf(hits) * numberOf(ctr), 0);
  return {
    ...first,
    hits: sumOf(rows, "hits"),
    ctr: isRated ? clicks / sumOf(searched, "hits") : null,
    searched: latestOf(rows, "searched"),
    ...(first.change === undefined ? {} : changesOf(rows)),
    spellings,
  };
}

/** Sums changes. One unknown change makes the sum unknown. */
function changesOf(rows: readonly ReportRow[]): Pick<ReportRow, "change" | "earlier"> {
  const isKnown = rows.every(({ change }) => countOf(change) !== null);
  if (!isKnown) return { change: null, earlier: null };
  return { change: sumOf(rows, "change"), earlier: sumOf(rows, "earlier") };
}

/** Returns the different texts of rows, most frequent first. */
function spellingsOf(rows: readonly ReportRow[], timesOf: (row: ReportRow) => number): string[] {
  const times = new Map<string, number>();
  for (const row of rows) {
    const text = queryOf(row);
    times.set(text, (times.get(text) ?? 0) + timesOf(row));
  }
  return [...times].sort(([, a], [, b]) => b - a).map(([text]) => text);
}

function latestOf(rows: readonly ReportRow[], column: "asked" | "searched"): string | null {
  const times = rows.map((row) => textOf(row[column]));
  return times.reduce((a, b) => ((parseInstant(b) ?? 0) > (parseInstant(a) ?? 0) ? b : a), null);
}

function sumOf(rows: readonly ReportRow[], column: "hits" | "change" | "earlier"): number {
  return rows.reduce((sum, row) => sum + numberOf(row[column]), 0);
}

function byFrequency(rows: ReportRow[], column: "hits" | "times"): ReportRow[] {
  return rows.sort((a, b) => numberOf(b[column]) - numberOf(a[column]));
}
