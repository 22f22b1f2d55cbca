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

export function toPageRow({ path, thumbsUp, thumbsDown, code, total }: PageFeedback): ReportRow {
  const ratings = thumbsUp === null || thumbsDown === null ? null : thumbsUp + thumbsDown;
  return {
    path: path === null ? null : toPagePath(path),
    up: thumbsUp,
    down: thumbsDown,
    share: shareOf(thumbsUp, ratings),
    code,
    total,
  };
}
