import { adjust, visit } from "../shell/navigation.ts";
import { counted } from "../shell/wording.ts";
import type { Listing } from "./listing.ts";
import type { TableModel } from "./table_model.ts";
import { FILTER_ID } from "./toolbar.tsx";

interface EmptyTableProps {
  listing: Listing;
  table: TableModel;
  hasSitemap: boolean;
  onSitemap(): void;
}

/** Why there are no rows, and what to do about it. */
export function EmptyTable({ listing, table, hasSitemap, onSitemap }: EmptyTableProps) {
  if (listing.requests.value === 0) return null;
  const { name, one, many } = listing.report;
  const { filter, arrangement } = table;
  const loaded = listing.rows.value.length;
  const isComplete = listing.state.value === "complete";
  if (loaded === 0) {
    const what = {
      views: "page views",
      visitors: "visitors",
      feedback: "feedback",
      searches: "searches",
    };
    return (
      <div class="empty">
        <p class="empty-title">No {what[name]} in this period</p>
        <p>Choose more days, or check that the project is the right one.</p>
      </div>
    );
  }
  if (arrangement === "never-read" && !hasSitemap) {
    return (
      <div class="empty">
        <p class="empty-title">Which pages were never read?</p>
        <p>The site’s sitemap says which pages there are.</p>
        <button type="button" onClick={onSitemap}>
          Add a sitemap
        </button>
      </div>
    );
  }
  if (filter.trim() === "") {
    const all = arrangement === "never-read" ? "Every page of the sitemap was read." : null;
    return (
      <div class="empty">
        <p class="empty-title">Nothing to show</p>
        <p>{all ?? noneMatches(loaded, one, many, isComplete)}</p>
        <button type="button" onClick={showAll}>
          Show all {many}
        </button>
      </div>
    );
  }
  return (
    <div class="empty">
      <p class="empty-title">
        No {isComplete ? "" : "loaded "}
        {one} matches “<bdi>{filter}</bdi>”
      </p>
      <p>{noneMatches(loaded, one, many, isComplete)}</p>
      <button type="button" onClick={clearFilter}>
        Clear the filter
      </button>
    </div>
  );
}

function noneMatches(loaded: number, one: string, many: string, isComplete: boolean): string {
  const rows = counted(loaded, one, many);
  if (isComplete)
    return loaded === 1 ? `The only ${one} does not match.` : `None of the ${rows} matches.`;
  return loaded === 1
    ? `The only ${one} loaded so far does not match; others are not loaded.`
    : `None of the ${rows} loaded so far matches; others are not loaded.`;
}

function clearFilter(): void {
  adjust({ analytics: { filter: "" } });
  document.getElementById(FILTER_ID)?.focus();
}

function showAll(): void {
  visit({ analytics: { arrangement: "pages", sorting: null } });
  document.querySelector<HTMLElement>("h1")?.focus();
}
