import { signal } from "@preact/signals";
import { useId } from "preact/hooks";
import type { Session } from "../../session/session.ts";
import { Choices } from "../../shell/choices.tsx";
import { Sliders } from "../../shell/icons.tsx";
import { Menu } from "../../shell/menu.tsx";
import { address, adjust, visit } from "../../shell/navigation.ts";
import { ExportMenu } from "../export/export_menu.tsx";
import type { Arrangement, Comparison } from "../period/address_words.ts";
import { PeriodPicker } from "../period/period_picker.tsx";
import { COMPARISONS } from "../period/range.ts";
import { arrangementsOf } from "../rows/arrangement.ts";
import { facetsOf } from "../rows/facets.ts";
import { isComparable, type Report } from "../rows/report.ts";
import { FacetMenu } from "../table/facet_menu.tsx";
import type { TableModel } from "../table/table_model.ts";
import { SavedViewsMenu } from "./saved_views_menu.tsx";
import * as styles from "./toolbar.module.css";

const FILTER_ID = "filter";

/** Whether a phone shows the options, which wider windows always show. */
const areOptionsOpen = signal(false);

/** Focuses the filter. On a phone, opens the options around it. */
export function focusFilter(): void {
  areOptionsOpen.value = true;
  // After the render, because a hidden input cannot take the focus.
  queueMicrotask(() => document.getElementById(FILTER_ID)?.focus());
}

interface ToolbarProps {
  report: Report;
  table: TableModel;
  session: Session;
  onArrange(arrangement: Arrangement): void;
  isSelecting: boolean;
  onSelect(): void;
}

/**
 * Period, comparison, arrangement, filters, saved views and export. On phones, a button shows all
 * but the period.
 */
export function Toolbar(props: ToolbarProps) {
  const { session, report, table, onArrange } = props;
  const id = useId();
  const offered = arrangementsOf(report);
  const shown = offered.find(({ id }) => id === table.arrangement);
  return (
    <div class={`toolbar ${styles.toolbar} ${styles.report}`}>
      <PeriodPicker range={table.range} />
      <OptionsButton controls={id} active={countActive(table)} />
      <div id={id} class={`${styles.options} ${areOptionsOpen.value ? "" : styles.optionsClosed}`}>
        {isComparable(report) && <ComparisonMenu comparison={address.value.analytics.comparison} />}
        {offered.length > 1 && (
          <Menu name="Show" value={shown?.label ?? ""}>
            {(close) => (
              <Choices
                label="Show"
                choices={offered}
                chosen={table.arrangement}
                onChoose={(id) => {
                  close();
                  onArrange(id);
                }}
              />
            )}
          </Menu>
        )}
        {facetsOf(report.name).map((facet) => (
          <FacetMenu key={facet.name} facet={facet} table={table} />
        ))}
        <RowFilter report={report} />
        <div class={styles.end}>
          <button
            type="button"
            class="quiet"
            aria-pressed={props.isSelecting}
            onClick={props.onSelect}
          >
            Select rows
          </button>
          <SavedViewsMenu session={session} />
          <ExportMenu session={session} table={table} />
        </div>
      </div>
    </div>
  );
}

/** Returns the number of options that limit or rearrange the rows. */
function countActive({ arrangement, facets, filter }: TableModel): number {
  const others = [arrangement !== "pages", filter !== ""].filter(Boolean);
  return others.length + Object.keys(facets).length;
}

interface OptionsButtonProps {
  controls: string;
  active: number;
}

/** Shows and hides the options on a phone. A dot marks active ones. */
function OptionsButton({ controls, active }: OptionsButtonProps) {
  return (
    <button
      type="button"
      class={`${styles.optionsButton} ${active > 0 ? styles.optionsActive : ""}`}
      aria-expanded={areOptionsOpen.value}
      aria-controls={controls}
      onClick={() => {
        areOptionsOpen.value = !areOptionsOpen.value;
      }}
    >
      <Sliders />
      <span class="visually-hidden">
        {active > 0 ? `Filter and options, ${active} active` : "Filter and options"}
      </span>
    </button>
  );
}

export function ComparisonMenu({ comparison }: { comparison: Comparison }) {
  const label = COMPARISONS.find(({ id }) => id === comparison)?.label ?? "";
  return (
    <Menu name="Compare" value={comparison === "none" ? label : `vs ${label.toLowerCase()}`}>
      {(close) => (
        <Choices
          label="Compare with"
          choices={COMPARISONS}
          chosen={comparison}
          onChoose={(id) => {
            visit({ analytics: { comparison: id } });
            close();
          }}
        />
      )}
    </Menu>
  );
}

/** After a pause of this length in typing, the next character adds a history entry. */
const TYPING_PAUSE_MS = 1000;
let lastTyped = Number.NEGATIVE_INFINITY;

/** Adds one history entry per filter, not one per character. */
function typeFilter(filter: string): void {
  const now = performance.now();
  const isContinued = now - lastTyped < TYPING_PAUSE_MS;
  lastTyped = now;
  const change = { analytics: { filter } };
  if (isContinued) adjust(change);
  else visit(change);
}

function RowFilter({ report: { filterLabel: label, key } }: { report: Report }) {
  const hint =
    key === "query"
      ? "Matches rows that contain every word"
      : "Words, the beginning of a path (/guides), or a glob (/guides/*, **/api, *.md)";
  return (
    <div class={styles.filter}>
      <label for={FILTER_ID} class="visually-hidden">
        {label}
      </label>
      <input
        id={FILTER_ID}
        type="search"
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        dir="auto"
        placeholder={label}
        title={hint}
        value={address.value.analytics.filter}
        onInput={(event) => typeFilter(event.currentTarget.value)}
      />
    </div>
  );
}
