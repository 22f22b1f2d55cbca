import { visit } from "../shell/navigation.ts";
import { counted } from "../shell/wording.ts";
import { categoriesOf, categoryLabel } from "./conversation_rows.ts";
import { Choices, Menu } from "./menu.tsx";
import type { TableModel } from "./table_model.ts";

const ALL = "All categories";

/** Filters questions by the category that Mintlify assigned. */
export function CategoryMenu({ table: { category, listing } }: { table: TableModel }) {
  const rows = listing?.rows.value ?? [];
  const categories = categoriesOf(rows);
  // A category from a link stays visible, even if no loaded question has it.
  if (category !== null && !categories.some(({ name }) => name === category)) {
    categories.unshift({ name: category, count: 0 });
  }
  const options = [
    { category: null, label: ALL, count: rows.length },
    ...categories.map(({ name, count }) => ({
      category: name,
      label: categoryLabel(name),
      count,
    })),
  ];
  const choices = options.map(({ label, count }, index) => ({
    id: String(index),
    label,
    hint: counted(count, "question"),
  }));
  const chosen = options.findIndex((option) => option.category === category);
  return (
    <Menu name="Category" value={<bdi class="category-value">{options[chosen]?.label}</bdi>}>
      {(close) => (
        <Choices
          label="Category"
          choices={choices}
          chosen={String(chosen)}
          onChoose={(id) => {
            visit({ analytics: { category: options[Number(id)]?.category ?? null } });
            close();
          }}
        />
      )}
    </Menu>
  );
}
