/** The exit codes. Scripts rely on them, so their numbers must not change. */

import { Interruption, UsageError } from "./errors.js";

/** The number of each exit code, and its description for the reference and the man page. */
export const EXIT_CODES = {
  ok: [0, "Success."],
  failure: [1, "Another error, such as a file that cannot be written."],
  usage: [2, "The command line, a setting or a value is invalid (also 400 and 422)."],
  access: [3, "The credential is invalid or does not allow the request (401, 403)."],
  notFound: [4, "The job, deployment, project or route does not exist (404)."],
  budget: [5, "A budget of requests is used up (429). The message states when to try again."],
  unavailable: [6, "No response, a timeout, or a server error (5xx)."],
  jobFailed: [7, "The job or the deployment failed."],
  waitTimeout: [8, "The job or the deployment did not finish within `--timeout`. It continues."],
  outcomeUnknown: [9, "The write may have taken effect. Check before you repeat it."],
  findings: [10, "`doctor` or `config check` found a problem."],
  conflict: [11, "Another request or the job's state conflicts with this one (409)."],
  interrupted: [130, "Ctrl-C (SIGINT)."],
  brokenPipe: [141, "The reader of the output has closed it (SIGPIPE)."],
  terminated: [143, "SIGTERM."],
} as const;

export type ExitName = keyof typeof EXIT_CODES;

export function getExitCode(name: ExitName): number {
  return EXIT_CODES[name][0];
}

/**
 * The exit codes of other modules' errors, by the error's name. `instanceof` would need these modules,
 * which are loaded on demand.
 */
const BY_NAME: Record<string, ExitName> = {
  ValidationError: "usage",
  CheckError: "usage",
  InitError: "usage",
  WebhookKeyError: "usage",
  BadRequestError: "usage",
  UnprocessableEntityError: "usage",
  AuthenticationError: "access",
  PermissionError: "access",
  NotFoundError: "notFound",
  ConflictError: "conflict",
  RateLimitError: "budget",
  OutcomeUnknownError: "outcomeUnknown",
  ServerError: "unavailable",
  ConnectionError: "unavailable",
  RequestTimeoutError: "unavailable",
  DecodeError: "unavailable",
  JobWaitTimeoutError: "waitTimeout",
  DeploymentWaitTimeoutError: "waitTimeout",
};

/** Returns the exit code for a command's error. An unknown error is a `failure`. */
export function findExitCode(error: unknown): number {
  if (error instanceof Interruption) return error.code;
  if (error instanceof UsageError) return getExitCode("usage");
  const { name, status } = error as { name?: unknown; status?: unknown };
  const known = typeof name === "string" ? BY_NAME[name] : undefined;
  // A proxy can respond 408, for which the client has no class.
  return getExitCode(known ?? (status === 408 ? "unavailable" : "failure"));
}
