import { External } from "../shell/icons.tsx";
import type { Problem } from "../shell/problem.ts";
import { RequestId } from "../shell/problem_panel.tsx";

/** What is in doubt, and where to look before doing it again. */
export interface DoubtWords {
  title: string;
  advice: string;
  /** Places that can have what was sent. */
  places: readonly { label: string; href: string }[];
}

interface DoubtPanelProps {
  problem: Problem;
  words: DoubtWords;
  onSend(): void;
  onKeep(): void;
}

/** Nobody knows whether it was sent: only the person can decide whether to risk it twice. */
export function DoubtPanel({ problem, words, onSend, onKeep }: DoubtPanelProps) {
  const { title, advice, places } = words;
  return (
    <div class="notice doubt" role="alert">
      <p class="problem-title">{title}</p>
      <p>{problem.cause}</p>
      <p>{advice}</p>
      {places.length > 0 && (
        <ul class="places">
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
          Send anyway
        </button>
        <button type="button" onClick={onKeep}>
          Keep as draft
        </button>
      </div>
    </div>
  );
}
