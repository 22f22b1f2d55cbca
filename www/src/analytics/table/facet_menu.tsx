import { Choices } from "../../shell/choices.tsx";
import { Menu } from "../../shell/menu.tsx";
import { address, visit } from "../../shell/navigation.ts";
import { counted } from "../../shell/wording.ts";
import { type Facet, valueLabel, valuesOf } from "../rows/facets.ts";
import * as styles from "./facet_menu.module.css";
import type { TableModel } from "./table_model.ts";

/** Filters the loaded rows by a value of a column. */
export function FacetMenu({ facet, table }: { facet: Facet; table: TableModel }) {
  const { name, label, all } = facet;
  const chosen = table.facets[name];
  const rows = table.listing?.rows.value ?? [];
  const values = valuesOf(rows, name);
  // A value from a link stays visible, even if no loaded row has it.
  if (chosen !== undefined && !values.some(({ value }) => value === chosen)) {
    values.unshift({ value: chosen, count: 0 });
  }
  const { one, many } = table.listing?.report ?? { one: "row", many: "rows" };
  const options = [
    { value: undefined, label: all, count: rows.length },
    ...values.map(({ value, count }) => ({ value, label: valueLabel(facet, value), count })),
  ];
  const at = options.findIndex(({ value }) => value === chosen);
  return (
    <Menu name={label} value={<bdi class={styles.value}>{options[at]?.label}</bdi>}>
      {(close) => (
        <div class={styles.choices}>
          <Choices
            label={label}
            choices={options.map(({ label, count }, index) => ({
              id: String(index),
              label,
              hint: counted(count, one, many),
            }))}
            chosen={String(at)}
            onChoose={(id) => {
              const { [name]: _, ...others } = address.peek().analytics.facets;
              const value = options[Number(id)]?.value;
              visit({
                analytics: { facets: value === undefined ? others : { ...others, [name]: value } },
              });
              close();
            }}
          />
        </div>
      )}
    </Menu>
  );
}
