import { External } from "../shell/icons.tsx";
import type { Problem } from "../shell/problem.ts";
import { RequestId } from "../shell/problem_panel.tsx";
import * as styles from "./doubt_panel.module.css";
import { SEND_WORDS } from "./words.ts";

/** Describes the possible outcome, and where to check before sending again. */
export interface DoubtWords {
  title: string;
  advice: string;
  /** Pages that may show the sent message. */
  places: readonly { label: string; href: string }[];
}

interface DoubtPanelProps {
  /** The label of the button that sends nothing. */
  keepLabel: string;
  problem: Problem;
  words: DoubtWords;
  onSend(): void;
  onKeep(): void;
}

/** Shown when a request may have been processed. Only the person may decide to send it again. */
export function DoubtPanel({ problem, words, keepLabel, onSend, onKeep }: DoubtPanelProps) {
  const { title, advice, places } = words;
  return (
    <div class="notice" role="alert">
      <p class="problem-title">{title}</p>
      <p>{problem.cause}</p>
      <p>{advice}</p>
      {places.length > 0 && (
        <ul class={styles.places}>
          {places.map(({ label, href }) => (
            <li key={href}>
              <a href={href} target="_blank" rel="noopener">
                {label} <External />
              </a>
            </li>
          ))}
        </ul>
      )}
      <RequestId of={problem} />
      <div class="actions">
        <button type="button" onClick={onSend}>
          {SEND_WORDS.sendAgain}
        </button>
        <button type="button" onClick={onKeep}>
          {keepLabel}
        </button>
      </div>
    </div>
  );
}
