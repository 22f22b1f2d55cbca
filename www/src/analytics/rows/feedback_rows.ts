import type { PageFeedback } from "quillgate";
import { toPagePath } from "./page_path.ts";
import { type ReportRow, shareOf } from "./report.ts";

export const FEEDBACK_MAY_BE_OFF =
  "Your site may not collect feedback. Check its settings in Mintlify.";

export interface Ratings {
  helpful: number;
  all: number;
}

/** Counts the entries with a rating, and the helpful ones. Only contextual feedback has ratings. */
export function countRatings(rows: readonly ReportRow[]): Ratings {
  const rated = rows.filter(({ helpful }) => helpful != null);
  return { helpful: rated.filter(({ helpful }) => helpful === "Yes").length, all: rated.length };
}

/** Sums the ratings of pages. Skips pages with an unknown count. */
export function sumRatings(rows: readonly ReportRow[]): Ratings {
  let [helpful, all] = [0, 0];
  for (const { up, down } of rows) {
    if (typeof up !== "number" || typeof down !== "number") continue;
    helpful += up;
    all += up + down;
  }
  return { helpful, all };
}

/**
 * Returns a row per path. Mintlify can list one page by its path and by its address, which are the
 * same path here.
 */
export function toPageRows(feedback: readonly PageFeedback[]): ReportRow[] {
  const pages = new Map<string | null, PageFeedback>();
  for (const entry of feedback) {
    const path = entry.path === null ? null : toPagePath(entry.path);
    const page = pages.get(path);
    pages.set(path, { ...(page === undefined ? entry : addUp(page, entry)), path });
  }
  return [...pages.values()].map(toPageRow);
}

/** Adds up the counts of two entries. A sum with an unknown count is unknown. */
function addUp(one: PageFeedback, other: PageFeedback): PageFeedback {
  const sum = (a: number | null, b: number | null) => (a === null || b === null ? null : a + b);
  return {
    ...one,
    thumbsUp: sum(one.thumbsUp, other.thumbsUp),
    thumbsDown: sum(one.thumbsDown, other.thumbsDown),
    code: sum(one.code, other.code),
    total: sum(one.total, other.total),
  };
}

function toPageRow({ path, thumbsUp, thumbsDown, code, total }: PageFeedback): ReportRow {
  const ratings = thumbsUp === null || thumbsDown === null ? null : thumbsUp + thumbsDown;
  return { path, up: thumbsUp, down: thumbsDown, share: shareOf(thumbsUp, ratings), code, total };
}
