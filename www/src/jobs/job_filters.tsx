import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { Session } from "../session/session.ts";
import { registerKeys } from "../shell/keys.ts";
import { Menu } from "../shell/menu.tsx";
import { address, adjust, visit } from "../shell/navigation.ts";
import { authorChoices, isFiltered, STATE_CHOICES } from "./job_filter.ts";
import * as styles from "./job_filters.module.css";
import { MAX_SEARCH } from "./jobs_address.ts";
import { jobsOf } from "./session_jobs.ts";
import { LIST_WORDS } from "./words.ts";

/** How long to wait after the last key before searching. */
const TYPING_MS = 300;

/** Filters for state, author and prompt. They are part of the address. */
export function JobFilters({ session }: { session: Session }) {
  const { claims } = session;
  const book = jobsOf(session);
  const { states, authors } = address.value.jobs;
  const names = authorChoices(book.list.authors.value, [...authors, claims.subject]);
  return (
    <search class={styles.filters}>
      <ChoiceMenu
        name={LIST_WORDS.state}
        any={LIST_WORDS.anyState}
        choices={STATE_CHOICES.map(({ state, label }) => ({ value: state, label }))}
        chosen={states}
        onChange={(states) => visit({ jobs: { states } })}
      />
      <ChoiceMenu
        name={LIST_WORDS.author}
        any={LIST_WORDS.anyone}
        choices={names.map((name) => ({
          value: name,
          label: name === claims.subject ? LIST_WORDS.you(name) : name,
        }))}
        chosen={authors}
        onChange={(authors) => visit({ jobs: { authors } })}
      />
      <TextFilter />
    </search>
  );
}

interface ChoiceMenuProps<Value extends string> {
  name: string;
  /** The button's label while nothing is selected. */
  any: string;
  choices: readonly { value: Value; label: string }[];
  chosen: readonly Value[];
  onChange(chosen: Value[]): void;
}

function ChoiceMenu<Value extends string>(props: ChoiceMenuProps<Value>) {
  const { name, any, choices, chosen, onChange } = props;
  const [first, ...others] = choices.filter(({ value }) => chosen.includes(value));
  const value =
    first === undefined
      ? any
      : others.length === 0
        ? first.label
        : LIST_WORDS.several(others.length + 1);

  function toggle(value: Value) {
    const isChosen = chosen.includes(value);
    const next = isChosen ? chosen.filter((one) => one !== value) : [...chosen, value];
    onChange(choices.map((choice) => choice.value).filter((one) => next.includes(one)));
  }

  return (
    <Menu
      class={styles.menu}
      buttonClass={styles.button}
      panelClass={styles.panel}
      name={name}
      value={<span class={styles.value}>{value}</span>}
    >
      {() => (
        <fieldset>
          <legend class="visually-hidden">{name}</legend>
          {choices.map(({ value, label }) => (
            <label key={value} class="check">
              <input
                type="checkbox"
                checked={chosen.includes(value)}
                onChange={() => toggle(value)}
              />
              {label}
            </label>
          ))}
        </fieldset>
      )}
    </Menu>
  );
}

function TextFilter() {
  const filter = address.value.jobs;
  const input = useRef<HTMLInputElement>(null);
  const typed = useSignal(filter.text);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const known = useRef(filter);
  // Follow changes by the back button or a link. Clearing also cancels a search that is not sent.
  const isCleared = isFiltered(known.current) && !isFiltered(filter);
  if (known.current.text !== filter.text || isCleared) {
    clearTimeout(timer.current);
    typed.value = filter.text;
  }
  known.current = filter;
  useEffect(() => () => clearTimeout(timer.current), []);
  useLayoutEffect(() => {
    const focus = () => {
      input.current?.focus();
      input.current?.select();
    };
    return registerKeys(LIST_WORDS.jobs, [{ keys: "/", label: LIST_WORDS.filter, run: focus }]);
  }, []);

  function type(value: string) {
    typed.value = value;
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      adjust({ jobs: { text: value } });
      known.current = address.peek().jobs;
    }, TYPING_MS);
  }

  return (
    <input
      ref={input}
      type="search"
      aria-label={LIST_WORDS.search}
      placeholder={LIST_WORDS.search}
      maxLength={MAX_SEARCH}
      value={typed.value}
      onInput={({ currentTarget }) => type(currentTarget.value)}
    />
  );
}
