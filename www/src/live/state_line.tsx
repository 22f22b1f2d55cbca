import { dayAndTime } from "../shell/wording.ts";
import * as styles from "./item_page.module.css";
import type { State } from "./state.ts";
import type { SpanTime } from "./time.ts";
import { ToneIcon } from "./tone_icon.tsx";

interface StateLineProps {
  state: State;
  time: SpanTime | null;
}

/** Shows the state of an item and how long it took. */
export function StateLine({ state: { tone, word }, time }: StateLineProps) {
  return (
    <p class={styles.state}>
      <span class={`pill tone-${tone}`}>
        <ToneIcon tone={tone} />
        {word}
      </span>
      {time !== null && (
        <time
          class={styles.elapsed}
          dateTime={new Date(time.instant).toISOString()}
          title={dayAndTime(time.instant)}
        >
          {time.text}
        </time>
      )}
    </p>
  );
}
