/** Starts the job through the gateway, and waits for it. */

import { createHash } from "node:crypto";
import {
  type AgentJob,
  ApiError,
  AuthenticationError,
  Client,
  ConnectionError,
  DecodeError,
  JobWaitTimeoutError,
  OutcomeUnknownError,
  PermissionError,
  QuillgateError,
  RateLimitError,
  TimeoutError,
} from "quillgate/inline";
import { type Identity, IdentityError } from "./identity.js";
import type { Inputs } from "./inputs.js";
import type { Outcome } from "./report.js";
import type { Runner } from "./runner.js";

/** How long a creation may still take after a cancellation: the runner allows 7.5 s in all. */
const CREATION_GRACE = 3_000;

/** A way to the gateway. */
export interface Connection {
  client: Client;
  /** Aborts when the workflow has lost its identity for good; its reason is the error. */
  lost: AbortSignal;
}

/** Connects to the gateway: every request carries a token that is good when it is sent. */
export function connect(
  inputs: Inputs,
  identity: Identity,
  token: string,
  runner: Runner,
): Connection {
  const lost = new AbortController();
  const debug = (message: string, ...rest: unknown[]) => {
    runner.debug([message, ...rest].map(String).join(" "));
  };
  const client = new Client({
    baseUrl: inputs.gateway,
    projectId: inputs.project,
    token,
    fetch: async (request) => {
      const current = await identity.token(request.signal).catch((error: unknown) => {
        // To the package it looks like a broken connection, which may pass.
        if (error instanceof IdentityError && !error.mayPass) lost.abort(error);
        throw error;
      });
      request.headers.set("authorization", `Bearer ${current}`);
      return fetch(request);
    },
    defaultHeaders: { "user-agent": "quillgate-action" },
    logger: { error: debug, warn: debug, info: debug, debug },
    logLevel: runner.isDebug ? "debug" : "off",
    onRetry: ({ error, wait }) => {
      runner.info(`${error.message}; trying again in ${Math.ceil(wait / 1_000)} s`);
    },
  });
  return { client, lost: lost.signal };
}

/**
 * What is the same for every attempt of this step in this attempt of the run, and differs for anything
 * else: the legs of a matrix share all variables of the runner, so the prompt is part of it.
 */
export function deriveIdempotencyKey(env: NodeJS.ProcessEnv, prompt: string): string {
  const names = [
    ...["GITHUB_SERVER_URL", "GITHUB_REPOSITORY_ID", "GITHUB_REPOSITORY", "GITHUB_WORKFLOW_REF"],
    ...["GITHUB_WORKFLOW", "GITHUB_RUN_ID", "GITHUB_RUN_ATTEMPT", "GITHUB_JOB", "GITHUB_ACTION"],
  ];
  const parts = [...names.map((name) => env[name] ?? ""), prompt];
  const digest = createHash("sha256").update(JSON.stringify(parts)).digest("hex");
  const { GITHUB_RUN_ID: run = "", GITHUB_RUN_ATTEMPT: attempt = "" } = env;
  return `github-${run}-${attempt}-${digest.slice(0, 32)}`;
}

/** Starts the job. A cancellation gives it a moment to say which job that is. */
export async function createJob(
  { client }: Connection,
  inputs: Inputs,
  key: string,
  signal: AbortSignal,
): Promise<AgentJob> {
  const abort = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const onAbort = () => {
    timer = setTimeout(() => abort.abort(signal.reason), CREATION_GRACE);
  };
  signal.addEventListener("abort", onAbort);
  try {
    const options = { idempotencyKey: key, signal: abort.signal };
    return await client.agentJobs.create({ prompt: inputs.prompt }, options);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}

/** Waits until the job has ended, or the time is up, or the step is cancelled. */
export async function waitForJob(
  { client, lost }: Connection,
  created: AgentJob,
  options: {
    timeout: number;
    after: string;
    signal: AbortSignal;
    onUpdate: (job: AgentJob) => void;
  },
): Promise<Outcome> {
  const { timeout, after, signal, onUpdate } = options;
  let job = created;
  try {
    await client.agentJobs.wait(created.id, {
      timeout,
      signal: AbortSignal.any([signal, lost]),
      onUpdate: (next) => {
        // What the platform leaves out of a later answer is still so.
        job = { ...next, id: next.id ?? job.id };
        onUpdate(job);
      },
    });
    return { kind: "ended", job };
  } catch (error) {
    if (signal.aborted) return { kind: "cancelled", job };
    if (error instanceof JobWaitTimeoutError) return { kind: "timed-out", job, after };
    return { kind: "failed", job, reason: explainError(lost.aborted ? lost.reason : error) };
  }
}

/**
 * Whether a creation that failed like this may have started the job all the same: anything but a
 * refusal in so many words.
 */
export function mayHaveStarted(error: unknown): boolean {
  if (error instanceof ApiError) {
    // What stands between here and the gateway answers in words of its own.
    return error instanceof OutcomeUnknownError || (error.status >= 500 && error.code === null);
  }
  return [ConnectionError, TimeoutError, DecodeError].some((type) => error instanceof type);
}

/** What went wrong, in a sentence. */
export function explainError(error: unknown): string {
  if (error instanceof AuthenticationError) {
    return `the gateway does not accept this identity: ${error.message}`;
  }
  if (error instanceof PermissionError) {
    return `the gateway does not allow this identity to do it: ${error.message}`;
  }
  if (error instanceof OutcomeUnknownError) {
    return `the platform gave no answer that can be relied on: ${error.message}`;
  }
  if (error instanceof RateLimitError) {
    const when = error.retryAfter === null ? "" : ` There is room again in ${error.retryAfter} s.`;
    return `the gateway takes no further job now: ${error.message}.${when}`;
  }
  if (error instanceof ConnectionError || error instanceof TimeoutError) {
    return `the gateway cannot be reached: ${error.message}`;
  }
  if (error instanceof ApiError) {
    const request = error.requestId === null ? "" : ` (request ${error.requestId})`;
    return `the gateway refused: ${error.message}${request}`;
  }
  if (error instanceof QuillgateError || error instanceof IdentityError) return error.message;
  throw error;
}
