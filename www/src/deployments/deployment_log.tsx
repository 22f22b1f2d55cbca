import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import { cutText } from "../shell/readable_text.ts";
import { counted } from "../shell/wording.ts";
import * as styles from "./deployment_log.module.css";
import { DEPLOYMENT_WORDS } from "./words.ts";

/** How many lines appear first, and with each press of the button. */
const LINES_A_PAGE = 200;
/** Longer lines are cut, because they block the browser's layout. */
const MAX_LINE = 2000;

/** The sentences of a deployment's log. A long log shows its end first. Null until it is loaded. */
export function DeploymentLog({ lines: known }: { lines: readonly string[] | null }) {
  const heading = useId();
  const lines = known ?? [];
  const most = useSignal(LINES_A_PAGE);
  const first = Math.max(0, lines.length - most.value);
  return (
    <section class={`stack ${styles.log}`} aria-labelledby={heading}>
      <h2 id={heading}>{DEPLOYMENT_WORDS.log}</h2>
      {lines.length === 0 && (
        <p class="hint">{known === null ? DEPLOYMENT_WORDS.loadingLog : DEPLOYMENT_WORDS.noLog}</p>
      )}
      {first > 0 && (
        <button
          type="button"
          class="quiet"
          onClick={() => {
            most.value += LINES_A_PAGE;
          }}
        >
          {DEPLOYMENT_WORDS.earlier(counted(Math.min(first, LINES_A_PAGE), "line"))}
        </button>
      )}
      {lines.length > 0 && (
        <ol class={`${styles.lines} card`} start={first + 1} translate={false}>
          {lines.slice(first).map((line, index) => (
            <li key={first + index}>{cutLine(line)}</li>
          ))}
        </ol>
      )}
    </section>
  );
}

function cutLine(line: string): string {
  return line.length <= MAX_LINE ? line : `${cutText(line, MAX_LINE)}…`;
}
