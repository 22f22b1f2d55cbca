import { useSignal } from "@preact/signals";
import { useId, useLayoutEffect } from "preact/hooks";
import { allCommands, type Command, matchCommands } from "./commands.ts";
import { Dialog } from "./dialog.tsx";
import * as styles from "./palette.module.css";

const WORDS = {
  title: "Command palette",
  search: "Search jobs, reports and actions",
  none: "No commands match",
};

/** Searches all commands by name and runs the selected one. */
export function Palette({ onClose }: { onClose(): void }) {
  const query = useSignal("");
  const at = useSignal(0);
  const id = useId();
  const groups = matchCommands(allCommands(), query.value);
  const commands = groups.flatMap((group) => group.commands);
  const active = Math.min(at.value, commands.length - 1);
  const optionId = (index: number) => `${id}-${index}`;
  useLayoutEffect(() => {
    document.getElementById(optionId(active))?.scrollIntoView({ block: "nearest" });
  }, [active, query.value]);

  function run(command: Command | undefined) {
    if (command === undefined) return;
    onClose();
    // The dialog returns the focus first. The command may then move it.
    requestAnimationFrame(() => command.run());
  }

  function move(index: number) {
    at.value = (index + commands.length) % Math.max(1, commands.length);
  }

  function onKeyDown(event: KeyboardEvent) {
    if (event.key === "ArrowDown") move(active + 1);
    else if (event.key === "ArrowUp") move(active - 1);
    else if (event.key === "Enter") run(commands[active]);
    else return;
    event.preventDefault();
  }

  let index = -1;
  return (
    <Dialog open title={WORDS.title} onClose={onClose}>
      <div class={`stack ${styles.palette}`}>
        <input
          type="text"
          // `showModal` focuses this input. An effect could run before the dialog is shown.
          autofocus
          role="combobox"
          aria-label={WORDS.search}
          aria-expanded="true"
          aria-controls={id}
          aria-autocomplete="list"
          aria-activedescendant={commands.length === 0 ? undefined : optionId(active)}
          placeholder={WORDS.search}
          autocomplete="off"
          spellcheck={false}
          value={query.value}
          onInput={(event) => {
            query.value = event.currentTarget.value;
            at.value = 0;
          }}
          onKeyDown={onKeyDown}
        />
        <div id={id} role="listbox" aria-label={WORDS.title} class={styles.list}>
          {groups.map(({ owner, commands }) => (
            // biome-ignore lint/a11y/useSemanticElements: a listbox has groups, not fieldsets
            <div key={owner} role="group" aria-label={owner}>
              <p class={styles.owner} aria-hidden="true">
                {owner}
              </p>
              {commands.map((command) => {
                index += 1;
                return (
                  <Option
                    key={optionId(index)}
                    id={optionId(index)}
                    command={command}
                    isActive={index === active}
                    onRun={() => run(command)}
                  />
                );
              })}
            </div>
          ))}
        </div>
        {commands.length === 0 && (
          <p class="hint" role="status">
            {WORDS.none}
          </p>
        )}
      </div>
    </Dialog>
  );
}

interface OptionProps {
  id: string;
  command: Command;
  isActive: boolean;
  onRun(): void;
}

function Option({ id, command: { label, keys }, isActive, onRun }: OptionProps) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the input has the focus and handles keys
    <div
      id={id}
      role="option"
      tabIndex={-1}
      aria-selected={isActive}
      class={styles.option}
      onClick={onRun}
    >
      <span class={styles.label}>{label}</span>
      {keys && (
        <span class="keys" aria-hidden="true">
          {keys.split(" ").map((key) => (
            <kbd key={key}>{key}</kbd>
          ))}
        </span>
      )}
    </div>
  );
}
