import { IconButton } from "../shell/icon_button.tsx";
import { Cross } from "../shell/icons.tsx";
import { Menu } from "../shell/menu.tsx";
import { toast } from "../shell/toast.ts";
import { COMPOSER_WORDS } from "./composer_words.ts";
import * as styles from "./template_menu.module.css";
import {
  BUILT_IN,
  MAX_TEMPLATES,
  type SaveOutcome,
  type Template,
  type TemplateShelf,
} from "./templates.ts";

interface TemplateMenuProps {
  shelf: TemplateShelf;
  /** The prompt to save as a template. */
  text: string;
  onUse(template: Template): void;
}

/** A menu of prompts to start from: built-in ones and the person's own. */
export function TemplateMenu({ shelf, text, onUse }: TemplateMenuProps) {
  return (
    <Menu
      buttonClass="quiet"
      panelClass={styles.panel}
      value={COMPOSER_WORDS.templates}
      align="end"
    >
      {(close, focusButton) => {
        const use = (template: Template) => {
          close();
          onUse(template);
        };
        return (
          <>
            <ul aria-label={COMPOSER_WORDS.builtIn}>
              {BUILT_IN.map((template) => (
                <li key={template.name}>
                  <UseButton template={template} onUse={use} />
                </li>
              ))}
            </ul>
            <OwnTemplates shelf={shelf} onUse={use} onRemoved={focusButton} />
            {text.trim() !== "" && (
              <button type="button" class="quiet" onClick={() => save(shelf, text)}>
                {COMPOSER_WORDS.saveTemplate}
              </button>
            )}
            <p class="hint">{COMPOSER_WORDS.templatesStay}</p>
          </>
        );
      }}
    </Menu>
  );
}

interface UseButtonProps {
  template: Template;
  onUse(template: Template): void;
}

function UseButton({ template, onUse }: UseButtonProps) {
  return (
    <button type="button" class={styles.item} onClick={() => onUse(template)}>
      {template.name}
    </button>
  );
}

interface OwnTemplatesProps {
  shelf: TemplateShelf;
  onUse(template: Template): void;
  /** Called when a template and its focused button are gone. */
  onRemoved(): void;
}

function OwnTemplates({ shelf, onUse, onRemoved }: OwnTemplatesProps) {
  const own = shelf.own.value;

  function remove(template: Template) {
    const restore = shelf.remove(template);
    onRemoved();
    toast({
      text: `${COMPOSER_WORDS.templateDeleted}: ${template.name}`,
      action: { label: COMPOSER_WORDS.undo, run: () => undo(restore) },
    });
  }

  if (own.length === 0) return null;
  return (
    <ul aria-label={COMPOSER_WORDS.own}>
      {own.map((template) => (
        <li key={template.name} class={styles.row}>
          <UseButton template={template} onUse={onUse} />
          <IconButton
            label={COMPOSER_WORDS.deleteTemplate(template.name)}
            icon={Cross}
            onClick={() => remove(template)}
          />
        </li>
      ))}
    </ul>
  );
}

function save(shelf: TemplateShelf, text: string): void {
  toast({ text: OUTCOMES[shelf.save(text)] });
}

function undo(restore: () => SaveOutcome): void {
  const outcome = restore();
  if (outcome !== "stored") toast({ text: OUTCOMES[outcome] });
}

const OUTCOMES: Readonly<Record<SaveOutcome, string>> = {
  stored: COMPOSER_WORDS.templateSaved,
  "until reload": COMPOSER_WORDS.templateUntilReload,
  exists: COMPOSER_WORDS.templateExists,
  "too many": COMPOSER_WORDS.tooManyTemplates(MAX_TEMPLATES),
  "too long": COMPOSER_WORDS.templateTooLong,
};
