import { PROXY_STATUS } from "./gateway_fetch.ts";

/** An error, explained to the person who sees it. */
export interface Problem {
  title: string;
  cause: string;
  advice: string;
  requestId: string | null;
  /** The path of the gateway's page about this kind of problem; absent for other errors. */
  page?: string | undefined;
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
    page: /^\/problems\/[a-z-]+$/.exec(String(fields.code))?.[0],
    requestId: typeof fields.requestId === "string" ? fields.requestId : null,
    retryAt: retryAfter === null ? null : now + retryAfter * 1000,
  };
}

/** Returns whether this problem shows an error. Screen readers would announce another one again. */
export function isShownBy(problem: Problem | null, error: unknown): boolean {
  const { title, cause } = describeProblem(error, 0);
  return problem?.title === title && problem.cause === cause;
}

/** Returns the last segment of the problem's `type`. */
export function kindOf({ code }: Pick<ErrorFields, "code">): string {
  return typeof code === "string" ? code.replace(/^.*\//, "") : "";
}

const retry = (title: string, advice: string): Words => ({ title, advice, remedy: "retry" });
const reload = (title: string, advice: string): Words => ({ title, advice, remedy: "reload" });
const signIn = (title: string, advice: string): Words => ({ title, advice, remedy: "sign in" });
const otherInput = (title: string, advice: string): Words => ({
  title,
  advice,
  remedy: "other input",
});

const TELL_ADMIN = "Try again. If it keeps happening, tell your gateway admin.";
const KEPT = "Your text and everything loaded so far are kept.";
const GATEWAY_PROBLEM = retry("The gateway has a problem", "Tell your gateway admin.");

/** By the last segment of the problem's `type`. */
const WORDS_OF_KINDS: Record<string, Words> = {
  intercepted: reload("Your session ended", "Reload the page to sign in again."),
  challenged: reload(
    "A firewall wants to check your browser",
    "Reload the page to pass the check.",
  ),
  firewall: retry(
    "A firewall blocked this request",
    "Try again with other words, or tell your gateway admin.",
  ),
  "upstream-credential": retry(
    "Mintlify rejected the gateway’s key",
    "Your request wasn’t sent. Contact your gateway admin.",
  ),
  "upstream-plan": retry(
    "Your Mintlify plan doesn’t include this",
    "Ask your gateway admin to upgrade the plan.",
  ),
  "upstream-project": otherInput(
    "Mintlify doesn’t know this project",
    "Check the project’s ID, then contact your gateway admin.",
  ),
  "upstream-blocked": retry(
    "The network blocked the gateway",
    "Mintlify didn’t get the request. Try again, or tell your gateway admin.",
  ),
  "object-unavailable": retry("The gateway’s storage isn’t available", "Try again in a moment."),
  internal: GATEWAY_PROBLEM,
  misconfigured: GATEWAY_PROBLEM,
};

const REJECTED = otherInput("The gateway rejected this", "Change the input and try again.");
const WORDS_OF_STATUSES: Record<number, Words> = {
  401: signIn("You’re no longer signed in", "Your session expired or was revoked. Sign in again."),
  403: signIn(
    "You don’t have permission for this",
    "Ask your gateway admin for a token with this project and permission.",
  ),
  404: otherInput("Not found in this project", "Check the project and the ID."),
  429: retry("You’ve reached the hourly limit", KEPT),
};
const UPSTREAM_PROBLEM = retry(
  "Mintlify returned an error",
  "Try again in a moment. If it keeps happening, tell your gateway admin.",
);

const UNREACHABLE = retry(
  "We couldn’t reach the gateway",
  "Check your connection, then try again.",
);
const MISSING_CODE = reload(
  "This part of the page didn’t load",
  "Check your connection, then reload the page. A new version may be available.",
);
const WORDS_OF_NAMES: Record<string, Words> = {
  ValidationError: otherInput(
    "This can’t be sent",
    "Nothing was sent. Change the input and try again.",
  ),
  ConnectionError: UNREACHABLE,
  CodeLoadError: MISSING_CODE,
  WasmLoadError: retry(
    "This part of the page didn’t load",
    "Check your connection, then try again. If it fails again, reload the page.",
  ),
  RequestTimeoutError: retry("The gateway took too long to answer", TELL_ADMIN),
  JobWaitTimeoutError: retry(
    "We stopped watching this job",
    "It may still be running. Check again now or later.",
  ),
  DeploymentWaitTimeoutError: retry(
    "We stopped watching this deployment",
    "It may still be running. Check again now or later.",
  ),
  DecodeError: retry("The gateway’s answer can’t be read", TELL_ADMIN),
};
const PAGE_PROBLEM = retry("Something went wrong on this page", "Try again, or reload the page.");

function wordsFor(error: ErrorFields): Words {
  const { name, status } = error;
  const kind = kindOf(error);
  if (kind === "quota-exceeded") return retry(titleOfLimit(error), KEPT);
  if (Object.hasOwn(WORDS_OF_KINDS, kind)) return WORDS_OF_KINDS[kind] ?? PAGE_PROBLEM;
  if (typeof status !== "number") return WORDS_OF_NAMES[name] ?? PAGE_PROBLEM;
  const isRejected = status >= 400 && status < 500 && status !== 408;
  return WORDS_OF_STATUSES[status] ?? (isRejected ? REJECTED : UPSTREAM_PROBLEM);
}

const LIMITS: Record<string, string> = {
  "create-job": "This project has reached its limit for new jobs",
  "send-message": "This project has reached its limit for follow-ups",
  "create-deployment": "Your organization has reached its limit for deployments",
  "create-preview": "Your organization has reached its limit for previews",
  "read-deployments": "You’ve reached the limit for loading deployments",
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
  "create-deployment": "Your organization has",
  "create-preview": "Your organization has",
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

/** Returns a value with its properties; an object without properties for any other value. */
export function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
