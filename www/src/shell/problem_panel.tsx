import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { now } from "./clock.ts";
import { isGatewayReachable } from "./gateway_fetch.ts";
import { reload } from "./load_failure.tsx";
import type { Problem } from "./problem.ts";
import { requestSignIn } from "./sign_in_request.ts";
import { clockTime, duration } from "./wording.ts";

interface ProblemPanelProps {
  problem: Problem;
  retryLabel?: string;
  onRetry?: (() => void) | undefined;
}

/** Shows an error: what happened, why, what to do, and the request id for support. */
export function ProblemPanel(props: ProblemPanelProps) {
  const { retryLabel = "Try again", onRetry } = props;
  const problem = useBlockedRequest(props.problem);
  return (
    <div class="problem" role="alert">
      <p class="problem-title">{problem.title}</p>
      <p>{problem.cause}</p>
      <p>{problem.advice}</p>
      {problem.retryAt !== null && <RetryTime at={problem.retryAt} />}
      <RequestId of={problem} />
      {problem.page && (
        <p class="hint">
          <a href={problem.page} target="_blank" rel="noopener">
            About this problem
          </a>
        </p>
      )}
      <div class="actions">
        {problem.remedy === "reload" && (
          <button type="button" class="primary" onClick={reload}>
            Reload
          </button>
        )}
        {onRetry && !["other input", "reload"].includes(problem.remedy) && (
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

/** Explains an unanswered request while the gateway answers others. */
const BLOCKED = {
  title: "Something blocked this request",
  cause: "The gateway answers, but this request got no answer.",
  advice: "Turn off content blockers for this page, or try another network.",
};

/** Explains a request that a content blocker or the network may have blocked. */
function useBlockedRequest(problem: Problem): Problem {
  const blocked = useSignal<Problem | null>(null);
  useEffect(() => {
    if (!problem.isUnanswered) return;
    isGatewayReachable().then((isReachable) => {
      if (isReachable) blocked.value = problem;
    });
  }, [problem]);
  return blocked.value === problem ? { ...problem, ...BLOCKED } : problem;
}

export function RequestId({ of: { requestId } }: { of: Problem }) {
  if (requestId === null) return null;
  return (
    <p class="hint">
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
