/** An error in the words of the person who has to deal with it. */
export interface Problem {
  title: string;
  cause: string;
  advice: string;
  requestId: string | null;
  /** When it makes sense to try again, in milliseconds since 1970; null when not said. */
  retryAt: number | null;
  /** Whether a limit is used up, so that `retryAt` is when its next slot frees. */
  isLimit: boolean;
  /** What can help: the same call again, another session, other input, or to look what happened. */
  remedy: "retry" | "sign in" | "other input" | "look first";
}

/** The fields of the package's errors that this page reads. */
interface ErrorFields {
  name: string;
  message: string;
  field?: unknown;
  status?: unknown;
  code?: unknown;
  requestId?: unknown;
  retryAfter?: unknown;
  problem?: unknown;
}

export type Words = Pick<Problem, "title" | "advice" | "remedy">;

export function describeProblem(error: unknown, now: number): Problem {
  const fields = fieldsOf(error);
  const retryAfter = typeof fields.retryAfter === "number" ? fields.retryAfter : null;
  return {
    ...wordsFor(fields),
    cause: causeOf(fields),
    isLimit: kindOf(fields) === "quota-exceeded",
    requestId: typeof fields.requestId === "string" ? fields.requestId : null,
    retryAt: retryAfter === null ? null : now + retryAfter * 1000,
  };
}

/** The gateway's word for the problem: the end of its `type`. */
export function kindOf({ code }: Pick<ErrorFields, "code">): string {
  return typeof code === "string" ? code.replace(/^.*\//, "") : "";
}

function wordsFor(error: ErrorFields): Words {
  const words = wordsForKind(error);
  if (words !== null) return words;
  if (typeof error.status === "number") return wordsForStatus(error.status);
  switch (error.name) {
    case "ValidationError":
      return {
        title: "This cannot be sent",
        advice: "Nothing was sent. Change the input and try again.",
        remedy: "other input",
      };
    case "ConnectionError":
    case "WasmLoadError":
      return {
        title: "The gateway could not be reached",
        advice: "Check your connection, then try again.",
        remedy: "retry",
      };
    case "RequestTimeoutError":
      return {
        title: "The gateway took too long to answer",
        advice: "Try again; if it happens again, tell whoever runs the gateway.",
        remedy: "retry",
      };
    case "JobWaitTimeoutError":
      return {
        title: "Stopped watching this job",
        advice: "It may still be running. Keep watching, or come back later.",
        remedy: "retry",
      };
    case "DecodeError":
      return {
        title: "The answer makes no sense",
        advice: "Try again; if it happens again, the API may have changed.",
        remedy: "retry",
      };
    default:
      return {
        title: "Something went wrong on this page",
        advice: "Try again, or reload the page.",
        remedy: "retry",
      };
  }
}

function wordsForKind(error: ErrorFields): Words | null {
  switch (kindOf(error)) {
    case "quota-exceeded":
      return {
        title: titleOfLimit(error),
        advice: "Nothing was done, and nothing is lost: try again when a slot is free.",
        remedy: "retry",
      };
    case "upstream-credential":
      return {
        title: "The platform refused the gateway’s own key",
        advice: "Nothing was done. Tell whoever runs the gateway.",
        remedy: "retry",
      };
    default:
      return null;
  }
}

const LIMITS: Record<string, string> = {
  "create-job": "The project’s limit for new jobs is used up",
  "send-message": "The project’s limit for follow-ups is used up",
  "read-jobs": "Your limit for reading jobs is used up",
  analytics: "The organisation’s limit for analytics requests is used up",
};

function titleOfLimit(error: ErrorFields): string {
  const violated = recordOf(error.problem)["violated-policies"];
  const policies = Array.isArray(violated) ? violated.map(String) : [];
  if (policies.some((policy) => policy.endsWith("-caller"))) {
    return "Your own quota is used up";
  }
  return LIMITS[policies[0] ?? ""] ?? "The limit is used up";
}

function wordsForStatus(status: number): Words {
  if (status === 401) {
    return {
      title: "You are no longer signed in",
      advice: "Your session has ended or was withdrawn. Sign in again: what you wrote is kept.",
      remedy: "sign in",
    };
  }
  if (status === 403) {
    return {
      title: "Your session does not allow this",
      advice: "Ask for a token with this project and this scope, then sign in with it.",
      remedy: "sign in",
    };
  }
  if (status === 429) {
    return {
      title: "The hourly limit is used up",
      advice: "Nothing is lost: try again later.",
      remedy: "retry",
    };
  }
  if (status === 404) {
    return {
      title: "Not found in this project",
      advice: "Check the project and the job’s id.",
      remedy: "other input",
    };
  }
  if (status >= 400 && status < 500 && status !== 408) {
    return {
      title: "The gateway refused this",
      advice: "Change the input and try again.",
      remedy: "other input",
    };
  }
  return {
    title: "The platform did not answer properly",
    advice: "Try again in a moment; if it happens again, tell whoever runs the gateway.",
    remedy: "retry",
  };
}

function causeOf(error: ErrorFields): string {
  const problem = recordOf(error.problem);
  const details = Array.isArray(problem.errors) ? problem.errors.map(detailOf).filter(Boolean) : [];
  const told = typeof problem.detail === "string" ? problem.detail : error.message;
  // The title says which limit it is, in words.
  const said = kindOf(error) === "quota-exceeded" ? told.replace(/^[a-z-]+: /, "") : told;
  const status = typeof error.status === "number" ? ` (status ${error.status})` : "";
  return sentence([said, ...details].join(": ")) + status;
}

function detailOf(item: unknown): string {
  const { detail } = recordOf(item);
  return typeof detail === "string" ? detail : "";
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function fieldsOf(error: unknown): ErrorFields {
  return error instanceof Error ? error : { name: "", message: String(error) };
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
