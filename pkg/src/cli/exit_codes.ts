/** The exit codes. They are stable, so scripts may rely on them. */

import { Interruption, UsageError } from "./command.js";

/** Every exit code with its meaning. */
export const EXIT_CODES = {
  ok: [0, "It is done."],
  failure: [1, "Something else went wrong, such as a file that cannot be written."],
  usage: [2, "The command line, a setting or a value is wrong (or the server answers 400 or 422)."],
  access: [3, "The credential is not accepted, or does not allow this (401, 403)."],
  notFound: [4, "There is no such job, project or route (404)."],
  budget: [5, "The hour's requests are spent (429): the message says when there are more."],
  unavailable: [6, "No answer, none in time, or one that is no use (5xx)."],
  jobFailed: [7, "The job has ended as `failed`."],
  waitTimeout: [8, "The job had not ended when `--timeout` ran out. It goes on."],
  outcomeUnknown: [9, "Nobody knows whether a job was created or a message sent: look first."],
  findings: [10, "`doctor` or `config check` has found something wrong."],
  interrupted: [130, "Ctrl-C (SIGINT)."],
  brokenPipe: [141, "What read the output has gone (SIGPIPE)."],
  terminated: [143, "SIGTERM."],
} as const;

export type ExitName = keyof typeof EXIT_CODES;

/** Returns the number of an exit code. */
export function getExitCode(name: ExitName): number {
  return EXIT_CODES[name][0];
}

/** The exit codes of errors of the client and the gateway package, by the error's name. */
const BY_NAME: Record<string, ExitName> = {
  ValidationError: "usage",
  CheckError: "usage",
  InitError: "usage",
  BadRequestError: "usage",
  UnprocessableEntityError: "usage",
  AuthenticationError: "access",
  PermissionError: "access",
  NotFoundError: "notFound",
  RateLimitError: "budget",
  OutcomeUnknownError: "outcomeUnknown",
  ServerError: "unavailable",
  ConnectionError: "unavailable",
  RequestTimeoutError: "unavailable",
  DecodeError: "unavailable",
  JobWaitTimeoutError: "waitTimeout",
};

/** Returns the exit code for an error that a command threw. The default is `failure`. */
export function findExitCode(error: unknown): number {
  if (error instanceof Interruption) return error.code;
  if (error instanceof UsageError) return getExitCode("usage");
  const { name } = error as { name?: unknown };
  return getExitCode((typeof name === "string" ? BY_NAME[name] : undefined) ?? "failure");
}
