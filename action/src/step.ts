/** The parts that all commands share: connecting, starting and commenting. */

import {
  type ApiPromise,
  AuthenticationError,
  type Client,
  type CreateOptions,
} from "quillgate/inline";
import { CommentError, type CommentPlace, type Entry, StepComment } from "./comment.js";
import {
  type Connection,
  connect,
  mayHaveStarted,
  readProblemKind,
  sendWrite,
  type Written,
} from "./connection.js";
import type { PullRequest } from "./event.js";
import { explainReplay, explainStart, type Noun } from "./explain.js";
import { findApi, type GithubApi } from "./github_api.js";
import { AccessToken, type Identity, WorkflowIdentity } from "./identity.js";
import type { Place } from "./inputs.js";
import type { Runner } from "./runner.js";

/** The run of one step. */
export interface Step {
  runner: Runner;
  /** Aborts when the step is cancelled. */
  signal: AbortSignal;
  /** The pull request of the event. */
  pull: PullRequest | undefined;
}

/** Why nothing was started. After `unknown`, it may have been. */
export type StartFailure =
  | { kind: "cancelled"; connection?: undefined }
  | { kind: "failed" | "unknown"; reason: string; connection?: undefined };

export type Start<T> = ({ connection: Connection } & Written<T>) | StartFailure;

/**
 * The claims to log when the gateway rejects the identity. Operators need them to write a rule; see
 * docs/guides/workflows.md.
 */
const SHOWN_CLAIMS = [
  "iss",
  "aud",
  "sub",
  "repository",
  "repository_id",
  "repository_owner_id",
  "event_name",
  "ref",
  "ref_type",
  "environment",
  "job_workflow_ref",
  "actor_id",
  "runner_environment",
];

/** The title of annotations about the comment. */
const NOT_WRITTEN = "The comment was not written";

/** Connects to the gateway and sends the write that starts something. */
export async function start<T>(
  { runner, signal, pull }: Step,
  inputs: Place,
  write: {
    noun: Noun;
    key: string;
    send: (client: Client, options: CreateOptions) => ApiPromise<T>;
    /** See {@link sendWrite}. */
    limitPeriod?: number;
  },
): Promise<Start<T>> {
  const { noun, key, send, limitPeriod } = write;
  let identity: Identity | undefined;
  let connection: Connection | undefined;
  try {
    identity = inputs.token
      ? new AccessToken(inputs.token)
      : new WorkflowIdentity(runner, inputs.audience, pull, noun);
    const token = await identity.token(signal);
    connection = connect(inputs, identity, token, runner);
    const { client } = connection;
    const options = { key, timeout: inputs.timeout, runner, signal };
    const written = await sendWrite(connection, (call) => send(client, call), {
      ...options,
      ...(limitPeriod === undefined ? {} : { limitPeriod }),
    });
    return { connection, ...written };
  } catch (error) {
    if (signal.aborted) return { kind: "cancelled" };
    const isUnknown = readProblemKind(error) === "identity-not-mapped";
    if (isUnknown || error instanceof AuthenticationError) showClaims(runner, identity);
    const kind = connection && mayHaveStarted(error, connection) ? "unknown" : "failed";
    const reason = explainStart(error, noun, inputs, connection?.reachability);
    return { kind, reason: reason + explainReplay(error, inputs) };
  }
}

function showClaims(runner: Runner, identity: Identity | undefined): void {
  const claims = identity?.claims;
  if (claims === undefined) return;
  const lines = SHOWN_CLAIMS.flatMap((name) => {
    return claims[name] === undefined ? [] : [`${name}: ${JSON.stringify(claims[name])}`];
  });
  runner.group("The claims of this workflow's identity, for the gateway's TRUSTED_ISSUERS", lines);
}

/** Returns the URL of the run's current attempt. */
export function readRunUrl(env: NodeJS.ProcessEnv): string {
  const { GITHUB_SERVER_URL: server = "https://github.com", GITHUB_REPOSITORY: repository } = env;
  const { GITHUB_RUN_ID: id, GITHUB_RUN_ATTEMPT: attempt = "1" } = env;
  return `${server}/${repository}/actions/runs/${id}/attempts/${attempt}`;
}

/** Returns the comment on the event's pull request, or `undefined` if it cannot be written. */
export function prepareComment(
  { runner, pull }: Step,
  inputs: Place,
  place: Omit<CommentPlace, keyof GithubApi | "number" | "run">,
): StepComment | undefined {
  if (pull === undefined) {
    runner.info("There is no comment, since this event is not about a pull request.");
    return undefined;
  }
  const api = findApi(runner.env, inputs.githubToken);
  if (api === undefined) {
    const text = "The input github-token is missing, which writes the comment.";
    runner.annotate("warning", NOT_WRITTEN, text);
    return undefined;
  }
  const { GITHUB_RUN_ID: run = "" } = runner.env;
  return new StepComment({ ...api, ...place, number: pull.number, run });
}

/** Writes the comment. A failure never fails the step, because it does not affect what it started. */
export async function writeComment(
  { runner, pull }: Step,
  comment: StepComment | undefined,
  entry: Entry,
  signal?: AbortSignal,
): Promise<void> {
  try {
    await comment?.write(entry, signal);
  } catch (error) {
    if (!(error instanceof CommentError)) throw error;
    if (signal?.aborted) return;
    // GitHub gives a workflow of a pull request from a fork no permission to comment.
    const level = error.isRefusal && pull?.fromFork ? "notice" : "warning";
    runner.annotate(level, NOT_WRITTEN, error.message);
  }
}
