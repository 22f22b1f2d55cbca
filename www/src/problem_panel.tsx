import { now } from "./clock.ts";
import type { Problem } from "./problem.ts";
import { askForAnotherToken } from "./session.ts";
import { clockTime, duration } from "./wording.ts";

interface ProblemPanelProps {
  problem: Problem;
  /** What the button says when the same call can be made again. */
  retryLabel?: string;
  onRetry?: (() => void) | undefined;
}

/** An error: what happened, why, what to do now, and what to quote when asking for help. */
export function ProblemPanel({ problem, retryLabel = "Retry", onRetry }: ProblemPanelProps) {
  return (
    <div class="problem" role="alert">
      <p class="problem-title">{problem.title}</p>
      <p>{problem.cause}</p>
      <p>{problem.advice}</p>
      {problem.retryAt !== null && <RetryTime at={problem.retryAt} />}
      {problem.requestId !== null && (
        <p class="problem-id">
          Request id <code>{problem.requestId}</code>
        </p>
      )}
      <div class="actions">
        {onRetry && problem.remedy !== "other input" && (
          <button type="button" onClick={onRetry}>
            {retryLabel}
          </button>
        )}
        {problem.remedy === "new token" && (
          <button type="button" onClick={() => askForAnotherToken(problem.title)}>
            Sign in with another token
          </button>
        )}
      </div>
    </div>
  );
}

function RetryTime({ at }: { at: number }) {
  const left = at - now.value;
  if (left <= 0) return <p>You can try again now.</p>;
  // The countdown is for the eye: read out, it would interrupt each second.
  return (
    <p>
      You can try again at <strong>{clockTime(at)}</strong>{" "}
      <span aria-hidden="true">(in {duration(left)})</span>.
    </p>
  );
}
