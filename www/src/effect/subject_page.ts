import { isPagePath, toPagePath } from "../analytics/rows/page_path.ts";

/** A path at the start of a word. */
const PATH = /(?:^|[\s(“"'`])(\/(?!\/)[^\s“”"'`()]*)/;
/** The URL of a page. Hosts of repositories have no pages. */
const URL_OF_PAGE =
  /https?:\/\/(?!(?:www\.)?(?:github|gitlab|bitbucket)\.)[^\s/?#“”"'`()]+\/[^\s“”"'`()]*/;

/**
 * Returns the path of the page that a prompt is about: the first one that it names. Returns `null`
 * if it names none.
 */
export function subjectPage(prompt: string): string | null {
  const found = PATH.exec(prompt)?.[1] ?? URL_OF_PAGE.exec(prompt)?.[0];
  const named = found?.replace(/[.,;:!?]+$/, "");
  if (named === undefined || named === "") return null;
  const path = toPagePath(named);
  return isPagePath(path) ? path : null;
}
