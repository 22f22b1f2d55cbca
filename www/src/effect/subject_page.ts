import { isPagePath, toPagePath } from "../analytics/rows/page_path.ts";

/** A path at the start of a word, or the URL of a page. */
const PATH = /(?:^|[\s(“"'`])((?:https?:\/\/[^\s/?#“”"'`()]+)?\/[^\s“”"'`()]*)/;

/**
 * Returns the path of the page that a prompt is about: the first one that it names. Returns `null`
 * if it names none.
 */
export function subjectPage(prompt: string): string | null {
  const named = PATH.exec(prompt)?.[1]?.replace(/[.,;:!?]+$/, "");
  if (named === undefined || named === "") return null;
  const path = toPagePath(named);
  return isPagePath(path) ? path : null;
}
