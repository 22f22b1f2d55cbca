import { PROXY_STATUS } from "./gateway_fetch.ts";

/** An error, explained to the person who sees it. */
export interface Problem {
  title: string;
  cause: string;
  advice: string;
  requestId: string | null;
  /** When a retry makes sense, in milliseconds since the epoch; null if unknown. */
  retryAt: number | null;
  /** Whether a rate limit is used up. A request then becomes free at `retryAt`. */
  isLimit: boolean;
  /** The next step: a retry, a new session, other input, or checking the outcome first. */
  remedy: "retry" | "sign in" | "reload" | "other input" | "look first";
  /** Whether the request got no answer. */
  isUnanswered?: boolean;
}

/** The properties of the package's errors that this page reads. */
interface ErrorFields {
  name: string;
  message: string;
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
    isUnanswered: fields.name === "ConnectionError",
    requestId: typeof fields.requestId === "string" ? fields.requestId : null,
    retryAt: retryAfter === null ? null : now + retryAfter * 1000,
  };
}

/** Returns the last segment of the problem's `type`. */
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
        title: "This can’t be sent",
        advice: "Nothing was sent. Change the input and try again.",
        remedy: "other input",
      };
    case "ConnectionError":
    case "WasmLoadError":
      return {
        title: "We couldn’t reach the gateway",
        advice: "Check your connection, then try again.",
        remedy: "retry",
      };
    case "RequestTimeoutError":
      return {
        title: "The gateway took too long to answer",
        advice: "Try again. If it keeps happening, tell your gateway admin.",
        remedy: "retry",
      };
    case "JobWaitTimeoutError":
      return {
        title: "We stopped watching this job",
        advice: "It may still be running. Check again now or later.",
        remedy: "retry",
      };
    case "DecodeError":
      return {
        title: "The gateway’s answer can’t be read",
        advice: "Try again. If it keeps happening, tell your gateway admin.",
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
        advice: "Your text and everything loaded so far are kept.",
        remedy: "retry",
      };
    case "intercepted":
      return {
        title: "Your session ended",
        advice: "Reload the page to sign in again.",
        remedy: "reload",
      };
    case "challenged":
      return {
        title: "A firewall wants to check your browser",
        advice: "Reload the page to pass the check.",
        remedy: "reload",
      };
    case "firewall":
      return {
        title: "A firewall blocked this request",
        advice: "Try again with other words, or tell your gateway admin.",
        remedy: "retry",
      };
    case "upstream-credential":
      return {
        title: "Mintlify rejected the gateway’s key",
        advice: "Your request wasn’t sent. Contact your gateway admin.",
        remedy: "retry",
      };
    case "upstream-plan":
      return {
        title: "Your Mintlify plan doesn’t include this",
        advice: "Ask your gateway admin to upgrade the plan.",
        remedy: "retry",
      };
    case "upstream-project":
      return {
        title: "Mintlify doesn’t know this project",
        advice: "Check the project’s ID, then contact your gateway admin.",
        remedy: "other input",
      };
    case "upstream-blocked":
      return {
        title: "The network blocked the gateway",
        advice: "Mintlify didn’t get the request. Try again, or tell your gateway admin.",
        remedy: "retry",
      };
    case "object-unavailable":
      return {
        title: "The gateway’s storage isn’t available",
        advice: "Try again in a moment.",
        remedy: "retry",
      };
    case "internal":
    case "misconfigured":
      return {
        title: "The gateway has a problem",
        advice: "Tell your gateway admin.",
        remedy: "retry",
      };
    default:
      return null;
  }
}

const LIMITS: Record<string, string> = {
  "create-job": "This project has reached its limit for new jobs",
  "send-message": "This project has reached its limit for follow-ups",
  "read-jobs": "You’ve reached the limit for loading jobs",
  analytics: "Your organization has reached its limit for analytics requests",
};

function titleOfLimit(error: ErrorFields): string {
  const violated = recordOf(error.problem)["violated-policies"];
  const policies = Array.isArray(violated) ? violated.map(String) : [];
  if (policies.some((policy) => policy.endsWith("-caller"))) {
    return "You’ve used your own quota";
  }
  return LIMITS[policies[0] ?? ""] ?? "You’ve reached a limit";
}

function wordsForStatus(status: number): Words {
  if (status === 401) {
    return {
      title: "You’re no longer signed in",
      advice: "Your session expired or was revoked. Sign in again.",
      remedy: "sign in",
    };
  }
  if (status === 403) {
    return {
      title: "You don’t have permission for this",
      advice: "Ask your gateway admin for a token with this project and permission.",
      remedy: "sign in",
    };
  }
  if (status === 429) {
    return {
      title: "You’ve reached the hourly limit",
      advice: "Your text and everything loaded so far are kept.",
      remedy: "retry",
    };
  }
  if (status === 404) {
    return {
      title: "Not found in this project",
      advice: "Check the project and the ID.",
      remedy: "other input",
    };
  }
  if (status >= 400 && status < 500 && status !== 408) {
    return {
      title: "The gateway rejected this",
      advice: "Change the input and try again.",
      remedy: "other input",
    };
  }
  return {
    title: "Mintlify returned an error",
    advice: "Try again in a moment. If it keeps happening, tell your gateway admin.",
    remedy: "retry",
  };
}

function causeOf(error: ErrorFields): string {
  const problem = recordOf(error.problem);
  const details = Array.isArray(problem.errors) ? problem.errors.map(detailOf).filter(Boolean) : [];
  const detail = typeof problem.detail === "string" ? problem.detail : error.message;
  const cause = CAUSES[kindOf(error)]?.(detail) ?? sentence([detail, ...details].join(": "));
  const hasStatus = typeof error.status === "number" && error.status !== PROXY_STATUS;
  return hasStatus ? `${cause} (${error.status})` : cause;
}

/** Plain causes that replace the gateway's details for developers. */
const CAUSES: Record<string, (detail: string) => string> = {
  "upstream-unreachable": () => "The connection to Mintlify was lost.",
  "upstream-plan": () => "The organization’s plan doesn’t include this operation.",
  "upstream-project": () => "The project is unknown, or belongs to another organization.",
  "upstream-blocked": () => "The network in front of Mintlify refused the connection.",
  "quota-exceeded": describeQuota,
};

/**
 * Rewrites "create-job: the limit of 100 in any 3600 seconds is used up" as "This project has used
 * all 100 this hour."
 */
function describeQuota(detail: string): string {
  const limit = /^([a-z-]+): the (limit|ceiling|.*quota) of (\d+) in any (\d+) seconds/.exec(
    detail,
  );
  if (limit === null) return sentence(detail.replace(/^[a-z-]+: /, ""));
  const [, policy = "", rule = "", most, seconds] = limit;
  const used = most === "1" ? "the only one" : `all ${most}`;
  const span = seconds === "3600" ? "this hour" : `in the last ${seconds} seconds`;
  return `${spenderOf(policy, rule)} used ${used} ${span}.`;
}

function spenderOf(policy: string, rule: string): string {
  if (rule === "ceiling") return "You and others with the same access have";
  return (rule === "limit" ? SHARED_BY[policy] : undefined) ?? "You’ve";
}

/** Who shares the limit of a policy. */
const SHARED_BY: Record<string, string> = {
  "create-job": "This project has",
  "send-message": "This project has",
  analytics: "Your organization has",
};

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
