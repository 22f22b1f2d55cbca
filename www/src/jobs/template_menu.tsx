import { useRef } from "preact/hooks";
import { Cross } from "../shell/icons.tsx";
import { toast } from "../shell/toast.ts";
import * as styles from "./template_menu.module.css";
import { BUILT_IN, MAX_TEMPLATES, type Template, type TemplateShelf } from "./templates.ts";
import { COMPOSER_WORDS } from "./words.ts";

interface TemplateMenuProps {
  shelf: TemplateShelf;
  /** The prompt to save as a template. */
  text: string;
  onUse(template: Template): void;
}

/** A menu of prompts to start from: built-in ones and the person's own. */
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
      saved: COMPOSER_WORDS.templateSaved,
      "too many": COMPOSER_WORDS.tooManyTemplates(MAX_TEMPLATES),
      "too long": COMPOSER_WORDS.templateTooLong,
    };
    toast({ text: words[outcome] });
  }

  function remove(template: Template) {
    const undo = shelf.remove(template);
    menu.current?.querySelector("summary")?.focus();
    toast({
      text: `${COMPOSER_WORDS.templateDeleted}: ${template.name}`,
      action: { label: COMPOSER_WORDS.undo, run: undo },
    });
  }

  return (
    <details
      ref={menu}
      class={styles.menu}
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
      <summary class="dropdown-button">{COMPOSER_WORDS.templates}</summary>
      <div class={`dropdown ${styles.panel}`}>
        <ul aria-label={COMPOSER_WORDS.builtIn}>
          {BUILT_IN.map((template) => (
            <li key={template.name}>
              <button type="button" class={styles.item} onClick={() => use(template)}>
                {template.name}
              </button>
            </li>
          ))}
        </ul>
        {own.length > 0 && (
          <ul aria-label={COMPOSER_WORDS.own}>
            {own.map((template) => (
              <li key={template.name} class={styles.row}>
                <button type="button" class={styles.item} onClick={() => use(template)}>
                  {template.name}
                </button>
                <button
                  type="button"
                  class="quiet icon-button"
                  aria-label={COMPOSER_WORDS.deleteTemplate(template.name)}
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
            {COMPOSER_WORDS.saveTemplate}
          </button>
        )}
        <p class="hint">{COMPOSER_WORDS.templatesStay}</p>
      </div>
    </details>
  );
}
