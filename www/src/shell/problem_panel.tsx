import { now } from "./clock.ts";
import type { Problem } from "./problem.ts";
import { requestSignIn } from "./sign_in_request.ts";
import { clockTime, duration } from "./wording.ts";

interface ProblemPanelProps {
  problem: Problem;
  /** The label of the retry button. */
  retryLabel?: string;
  onRetry?: (() => void) | undefined;
}

/** Shows an error: what happened, why, what to do, and the request id for support. */
export function ProblemPanel({ problem, retryLabel = "Try again", onRetry }: ProblemPanelProps) {
  return (
    <div class="problem" role="alert">
      <p class="problem-title">{problem.title}</p>
      <p>{problem.cause}</p>
      <p>{problem.advice}</p>
      {problem.retryAt !== null && <RetryTime at={problem.retryAt} />}
      <RequestId of={problem} />
      <div class="actions">
        {onRetry && problem.remedy !== "other input" && (
          <button type="button" onClick={onRetry}>
            {retryLabel}
          </button>
        )}
        {problem.remedy === "sign in" && (
          <button type="button" onClick={() => requestSignIn(problem.title)}>
            Sign in again
          </button>
        )}
      </div>
    </div>
  );
}

/** Shows the request id, for support. */
export function RequestId({ of: { requestId } }: { of: Problem }) {
  if (requestId === null) return null;
  return (
    <p class="problem-id">
      Request ID <code>{requestId}</code>
    </p>
  );
}

function RetryTime({ at }: { at: number }) {
  const left = at - now.value;
  if (left <= 0) return <p>You can try again now.</p>;
  // Hide the countdown from screen readers, which would announce it every second.
  return (
    <p>
      Try again at <strong>{clockTime(at)}</strong>{" "}
      <span aria-hidden="true">(in {duration(left)})</span>.
    </p>
  );
}
