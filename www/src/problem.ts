/** An error in the words of the person who has to deal with it. */
export interface Problem {
  title: string;
  cause: string;
  advice: string;
  requestId: string | null;
  /** When it makes sense to try again, in milliseconds since 1970; null when not said. */
  retryAt: number | null;
  /** What can help: the same call again, another token, or other input. */
  remedy: "retry" | "new token" | "other input";
}

/** The fields of the package's errors that this page reads. */
interface ErrorFields {
  name: string;
  message: string;
  field?: unknown;
  status?: unknown;
  requestId?: unknown;
  retryAfter?: unknown;
  problem?: unknown;
}

type Words = Pick<Problem, "title" | "advice" | "remedy">;

export function describeProblem(error: unknown, now: number): Problem {
  const fields = fieldsOf(error);
  const retryAfter = typeof fields.retryAfter === "number" ? fields.retryAfter : null;
  return {
    ...wordsFor(fields),
    cause: causeOf(fields),
    requestId: typeof fields.requestId === "string" ? fields.requestId : null,
    retryAt: retryAfter === null ? null : now + retryAfter * 1000,
  };
}

function wordsFor(error: ErrorFields): Words {
  if (typeof error.status === "number") return wordsForStatus(error.status);
  switch (error.name) {
    case "ValidationError":
      return {
        title: "This cannot be sent",
        advice: "Nothing was sent. Change the input and try again.",
        remedy: "other input",
      };
    case "ConnectionError":
      return {
        title: "The gateway could not be reached",
        advice: "Check your connection, then try again.",
        remedy: "retry",
      };
    case "TimeoutError":
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

function wordsForStatus(status: number): Words {
  if (status === 401) {
    return {
      title: "Your access token was not accepted",
      advice: "It may have expired or been withdrawn. Sign in with another one.",
      remedy: "new token",
    };
  }
  if (status === 403) {
    return {
      title: "Your access token does not allow this",
      advice: "Ask for a token with this project and this scope, then sign in with it.",
      remedy: "new token",
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
  const said = typeof problem.detail === "string" ? problem.detail : error.message;
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
