import { focusHeading } from "../../shell/heading.tsx";
import { adjust, visit } from "../../shell/navigation.ts";
import type { Arrangement } from "../period/address_words.ts";
import { hasFacets } from "../rows/facets.ts";
import { FEEDBACK_MAY_BE_OFF } from "../rows/feedback_rows.ts";
import type { Listing } from "../rows/listing.ts";
import { capitalize } from "../rows/partial_notice.ts";
import type { Report } from "../rows/report.ts";
import type { TableModel } from "../table/table_model.ts";
import { focusFilter } from "./toolbar.tsx";

interface EmptyTableProps {
  listing: Listing;
  table: TableModel;
  hasSitemap: boolean;
  onSitemap(): void;
}

/**
 * Explains why no rows are shown and what to do about it. Renders nothing before the first
 * response.
 */
export function EmptyTable({ listing, table, hasSitemap, onSitemap }: EmptyTableProps) {
  if (listing.requests.value === 0) return null;
  const { name, one, many } = listing.report;
  const { filter, arrangement, facets } = table;
  const loaded = listing.rows.value.length;
  const isComplete = listing.state.value === "complete";
  if (loaded === 0) {
    const what = {
      views: "page views",
      visitors: "visitors",
      feedback: "feedback",
      feedbackByPage: "feedback",
      searches: "searches",
      conversations: "questions to the assistant",
    };
    return (
      <div class="empty">
        <p class="empty-title">No {what[name]} in this period</p>
        <p>Choose a longer period, or switch projects.</p>
        {name.startsWith("feedback") && <p>{FEEDBACK_MAY_BE_OFF}</p>}
      </div>
    );
  }
  if (arrangement === "never-read" && !hasSitemap) {
    return (
      <div class="empty">
        <p class="empty-title">Find unread pages</p>
        <p>Add your sitemap and we’ll list pages with no views.</p>
        <button type="button" onClick={onSitemap}>
          Add a sitemap
        </button>
      </div>
    );
  }
  if (hasFacets(facets)) {
    return (
      <div class="empty">
        <p class="empty-title">
          No {isComplete ? "" : "loaded "}
          {one} matches these filters
        </p>
        <button type="button" onClick={clearAllFilters}>
          Clear all filters
        </button>
      </div>
    );
  }
  if (filter.trim() === "") {
    const all = arrangement === "never-read" ? "Every page in your sitemap has views." : null;
    return (
      <div class="empty">
        <p class="empty-title">{all ?? nothingFits(table.arrangement, listing.report)}</p>
        {!isComplete && all === null && (
          <p>{capitalize(many)} that haven’t been loaded may qualify.</p>
        )}
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
      {!isComplete && <p>Load all {many} to search the rest.</p>}
      <button type="button" onClick={clearFilter}>
        Clear filter
      </button>
    </div>
  );
}

function nothingFits(arrangement: Arrangement, { many, unit }: Report): string {
  switch (arrangement) {
    case "rises":
      return `No ${many} gained ${unit[1]} in this period`;
    case "falls":
      return `No ${many} lost ${unit[1]} in this period`;
    case "people-rises":
      return `No ${many} gained people in this period`;
    case "people-falls":
      return `No ${many} lost people in this period`;
    case "mostly-ai":
      return "No pages with over 50% AI views";
    case "mostly-people":
      return "No pages with over 50% views by people";
    case "no-clicks":
      return `All ${many} have clicks`;
    case "low-click-rate":
      return `No ${many} with a low click rate`;
    default:
      return `No ${many} to show`;
  }
}

function clearFilter(): void {
  adjust({ analytics: { filter: "" } });
  focusFilter();
}

function clearAllFilters(): void {
  visit({ analytics: { facets: {}, filter: "" } });
  focusHeading();
}

function showAll(): void {
  visit({ analytics: { arrangement: "pages", sorting: null } });
  focusHeading();
}
