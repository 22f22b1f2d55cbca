import { External } from "../../shell/icons.tsx";
import { followLink } from "../../shell/navigation.ts";
import { nameOfText } from "../../shell/readable_text.ts";
import { pageChange } from "../rows/page_address.ts";
import { linkToPage } from "../rows/page_link.ts";
import { decodePath, isPagePath } from "../rows/page_path.ts";
import { formatCell } from "./report_cell.tsx";
import * as styles from "./report_table.module.css";

export interface PageTargets {
  /** The site's address, for links to its pages; null if unknown. */
  site: string | null;
  /** Formats a link to the route of a page; null if the session may not see it. */
  linkPage: ((path: string) => string) | null;
}

/**
 * Renders a page's name with a link to the page's route and a link to the site. Without a route,
 * the name links to the site. Without either, the name is text.
 */
export function renderPageName(targets: PageTargets, name: string | null, path: string | null) {
  const { site, linkPage } = targets;
  const text = <PathText text={name === null ? "(none)" : nameOfText(decodePath(name))} />;
  const outside = linkToPage(site, path);
  if (linkPage !== null && isPagePath(path)) {
    return (
      <>
        {renderPageLink(linkPage, path, text)}
        {outside !== null && renderSiteLink(outside, path)}
      </>
    );
  }
  if (outside === null) return <span title={path ?? undefined}>{text}</span>;
  return (
    <a href={outside} title={outside} target="_blank" rel="noreferrer">
      {text}
    </a>
  );
}

/**
 * Renders a cell with a path and a link to the route of its page. Without a route, the cell is
 * text.
 */
export function renderPageCell({ linkPage }: PageTargets, path: string | null) {
  if (linkPage === null || !isPagePath(path)) return formatCell(path, "text");
  return renderPageLink(linkPage, path, <PathText text={decodePath(path)} />);
}

/** Isolates the path, because right-to-left letters in it could reorder the row. */
function PathText({ text }: { text: string }) {
  return (
    <bdi class={styles.path} dir="ltr" translate={false}>
      {text}
    </bdi>
  );
}

function renderPageLink(
  linkPage: (path: string) => string,
  path: string,
  text: ReturnType<typeof PathText>,
) {
  return (
    <a href={linkPage(path)} title={path} onClick={(event) => followLink(event, pageChange(path))}>
      {text}
    </a>
  );
}

function renderSiteLink(href: string, path: string) {
  return (
    <a
      class={styles.site}
      href={href}
      title={href}
      aria-label={`Open ${path} on the site`}
      target="_blank"
      rel="noreferrer"
    >
      <External />
    </a>
  );
}
