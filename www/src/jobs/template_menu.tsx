import { useRef } from "preact/hooks";
import { Cross } from "../shell/icons.tsx";
import { toast } from "../shell/toast.ts";
import { BUILT_IN, MAX_TEMPLATES, type Template, type TemplateShelf } from "./templates.ts";

interface TemplateMenuProps {
  shelf: TemplateShelf;
  /** What could be kept as a template; empty for nothing. */
  text: string;
  onUse(template: Template): void;
}

/** Prompts to begin with: those that come with the page, and the person's own. */
export function TemplateMenu({ shelf, text, onUse }: TemplateMenuProps) {
  const menu = useRef<HTMLDetailsElement>(null);
  const own = shelf.own.value;

  function close() {
    if (menu.current) menu.current.open = false;
  }

  function use(template: Template) {
    close();
    onUse(template);
  }

  function save() {
    const outcome = shelf.save(text);
    const words = {
      saved: "Saved as a template",
      "too many": `You have ${MAX_TEMPLATES} templates. Delete one first.`,
      "too long": "This prompt is too long for a template.",
    };
    toast({ text: words[outcome] });
  }

  function remove(template: Template) {
    const undo = shelf.remove(template);
    menu.current?.querySelector("summary")?.focus();
    toast({ text: `Template deleted: ${template.name}`, action: { label: "Undo", run: undo } });
  }

  return (
    <details
      ref={menu}
      class="templates"
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !menu.current?.open) return;
        event.stopPropagation();
        close();
        menu.current.querySelector("summary")?.focus();
      }}
      onFocusOut={({ relatedTarget }) => {
        if (relatedTarget instanceof Node && !menu.current?.contains(relatedTarget)) close();
      }}
    >
      <summary>Templates</summary>
      <div class="templates-panel">
        <ul aria-label="Built-in templates">
          {BUILT_IN.map((template) => (
            <li key={template.name}>
              <button type="button" class="menu-item" onClick={() => use(template)}>
                {template.name}
              </button>
            </li>
          ))}
        </ul>
        {own.length > 0 && (
          <ul aria-label="Your templates">
            {own.map((template) => (
              <li key={template.name} class="menu-row">
                <button type="button" class="menu-item" onClick={() => use(template)}>
                  {template.name}
                </button>
                <button
                  type="button"
                  class="quiet icon-button"
                  aria-label={`Delete the template ${template.name}`}
                  onClick={() => remove(template)}
                >
                  <Cross />
                </button>
              </li>
            ))}
          </ul>
        )}
        {text.trim() !== "" && (
          <button type="button" class="quiet" onClick={save}>
            Save this prompt as a template
          </button>
        )}
        <p class="hint">Your templates stay in this browser, also after you sign out.</p>
      </div>
    </details>
  );
}
