import type { Problem } from "./problem.ts";
import { RequestId } from "./problem_panel.tsx";

/** What is in doubt, and where to look before doing it again. */
export interface DoubtWords {
  title: string;
  advice: string;
  /** Leads to where there is something to see, when that is elsewhere on the page. */
  look?: { label: string; onLook(): void };
}

interface DoubtPanelProps {
  problem: Problem;
  words: DoubtWords;
  onSend(): void;
  onKeep(): void;
}

/** Nobody knows whether it was sent: only the person can decide whether to risk it twice. */
export function DoubtPanel({ problem, words, onSend, onKeep }: DoubtPanelProps) {
  const { title, advice, look } = words;
  return (
    <div class="notice doubt" role="alert">
      <p class="problem-title">{title}</p>
      <p>{problem.cause}</p>
      <p>{advice}</p>
      {look && (
        <button type="button" class="quiet" onClick={look.onLook}>
          {look.label}
        </button>
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
