/** Creates the job through the gateway and waits for it. */

import { createHash } from "node:crypto";
import {
  type AgentJob,
  ApiError,
  AuthenticationError,
  Client,
  ConflictError,
  ConnectionError,
  DecodeError,
  JobWaitTimeoutError,
  OutcomeUnknownError,
  PermissionError,
  QuillgateError,
  RateLimitError,
  RequestTimeoutError,
  ServerError,
  ValidationError,
} from "quillgate/inline";
import { explainResponse } from "../../pkg/dist/opaque_failure.js";
import { type Identity, IdentityError } from "./identity.js";
import { type Inputs, MAX_BODY_BYTES } from "./inputs.js";
import { Reachability } from "./reachability.js";
import type { Outcome } from "./report.js";
import type { Runner } from "./runner.js";

/**
 * How long a creation may continue after the step was cancelled, in milliseconds. The runner ends
 * the step 7.5 s after the cancellation.
 */
const CREATION_GRACE = 3_000;
/**
 * How long to retry a failed creation, in milliseconds. The gateway creates only one job per
 * idempotency key, so a retry cannot create a second one.
 */
const CREATION_RETRY_PERIOD = 30_000;
const MAX_RETRIES = 10;
/** The pause before waiting again after a failed wait, in milliseconds. */
const WAIT_PAUSE = 1_000;
/** Maps the package's field names to the action's inputs. */
const INPUT_NAMES: Readonly<Record<string, string>> = {
  baseUrl: "gateway",
  projectId: "project",
  idempotencyKey: "idempotency-key",
  prompt: "prompt",
  token: "token",
};

export interface Connection {
  client: Client;
  /** Aborts when GitHub refuses to issue another token. The reason is the {@link IdentityError}. */
  identityLost: AbortSignal;
  reachability: Reachability;
  /** The errors of the retried attempts to create the job, oldest first. */
  failedAttempts: QuillgateError[];
  /** Called before a creation is retried. `wait` is in milliseconds. */
  onRetry: ((error: QuillgateError, wait: number) => void) | undefined;
}

export interface CreatedJob {
  job: AgentJob;
  /** Whether an earlier step with the same idempotency key created the job. */
  isReused: boolean;
}

/** Creates a client that renews its token when needed. Sends no request. */
export function connect(
  inputs: Inputs,
  identity: Identity,
  token: string,
  runner: Runner,
): Connection {
  const identityLost = new AbortController();
  const reachability = new Reachability(inputs.gateway, runner);
  const debug = (message: string, ...rest: unknown[]) => {
    runner.debug([message, ...rest].map(String).join(" "));
  };
  const connection: Omit<Connection, "client"> = {
    ...{ identityLost: identityLost.signal, reachability },
    ...{ failedAttempts: [], onRetry: undefined },
  };
  const client = new Client({
    baseUrl: inputs.gateway,
    projectId: inputs.project,
    auth: { token },
    fetch: async (url, init) => {
      const current = await identity.token(init.signal).catch((error: unknown) => {
        // The client treats every error of `fetch` as a broken connection, which it retries.
        if (error instanceof IdentityError && !error.isRetryable) identityLost.abort(error);
        throw error;
      });
      const headers = { ...init.headers, authorization: `Bearer ${current}` };
      return reachability.send(new Request(url, { ...init, headers }));
    },
    defaultHeaders: { "user-agent": "quillgate-action" },
    logger: { error: debug, warn: debug, info: debug, debug },
    logLevel: runner.isDebug ? "debug" : "off",
    onRetry: ({ error, wait }) => connection.onRetry?.(error, wait),
  });
  return Object.assign(connection, { client });
}

/**
 * Returns the step's default idempotency key. Each attempt of a run has its own key, so a re-run
 * creates another job.
 *
 * All jobs of a matrix have the same variables, so the key also includes the prompt.
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

/**
 * Creates the job. If the step is cancelled meanwhile, still waits a few seconds for the job's id.
 *
 * @throws {QuillgateError | IdentityError} or the signal's reason if the step is cancelled
 */
export async function createJob(
  connection: Connection,
  inputs: Inputs,
  key: string,
  { runner, signal }: { runner: Runner; signal: AbortSignal },
): Promise<CreatedJob> {
  signal.throwIfAborted();
  const abort = new AbortController();
  const end = performance.now() + Math.min(CREATION_RETRY_PERIOD, inputs.timeout);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const onAbort = () => {
    timer = setTimeout(() => abort.abort(signal.reason), CREATION_GRACE);
  };
  signal.addEventListener("abort", onAbort);
  connection.onRetry = (error, wait) => {
    connection.failedAttempts.push(error);
    // After a conflict, an earlier attempt is still running. The client limits that wait itself.
    if (performance.now() + wait > end && !(error instanceof ConflictError)) {
      abort.abort(error);
      return;
    }
    const why = connection.reachability.connectFailure?.summary ?? error.message;
    runner.info(`${why}; trying again in ${Math.ceil(wait / 1_000)} s`);
  };
  try {
    const signals = AbortSignal.any([abort.signal, connection.identityLost]);
    const options = { idempotencyKey: key, signal: signals, maxRetries: MAX_RETRIES };
    const creation = connection.client.agentJobs.create({ prompt: inputs.prompt }, options);
    const { data: job, response } = await creation.withResponse();
    const isReplayed = response.headers.get("idempotent-replayed") === "true";
    return { job, isReused: isReplayed && connection.reachability.requests === 1 };
  } finally {
    connection.onRetry = undefined;
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}

/** Waits until the job finishes, the timeout expires, the step is cancelled or waiting fails. */
export async function waitForJob(
  { client, identityLost, reachability }: Connection,
  created: AgentJob,
  options: {
    /** In milliseconds. */
    timeout: number;
    /** The timeout as written in the workflow, such as `30m`. Appears in messages. */
    after: string;
    signal: AbortSignal;
    onUpdate: (job: AgentJob) => void;
  },
): Promise<Outcome> {
  const { timeout, after, signal, onUpdate } = options;
  const end = performance.now() + timeout;
  let job = created;
  /** Why waiting last failed; `undefined` after an update of the job. */
  let failure: string | undefined;
  const expire = (): Outcome => {
    return { kind: "timed-out", job, after, trouble: reachability.outage ?? failure };
  };
  reachability.logsChanges = true;
  for (;;) {
    try {
      await client.agentJobs.wait(created.id, {
        timeout: Math.max(1, Math.ceil(end - performance.now())),
        signal: AbortSignal.any([signal, identityLost]),
        onUpdate: (next) => {
          failure = undefined;
          // Mintlify may omit the id from later responses.
          job = { ...next, id: next.id ?? job.id };
          onUpdate(job);
        },
      });
      return { kind: "ended", job };
    } catch (error) {
      if (signal.aborted) return { kind: "cancelled", job };
      if (error instanceof JobWaitTimeoutError) return expire();
      const reason = explainError(identityLost.aborted ? identityLost.reason : error);
      if (identityLost.aborted || !isRetryable(error)) return { kind: "failed", job, reason };
      failure = reason;
    }
    if (performance.now() + WAIT_PAUSE >= end) return expire();
    await new Promise((resolve) => setTimeout(resolve, WAIT_PAUSE));
    if (signal.aborted) return { kind: "cancelled", job };
  }
}

function isRetryable(error: unknown): boolean {
  return [ConnectionError, RequestTimeoutError, ServerError].some((type) => error instanceof type);
}

/**
 * Returns whether the job may exist although its creation failed. It cannot exist if no request
 * reached a gateway, or if the gateway rejected the request.
 */
export function mayHaveStarted(given: unknown, connection: Connection): boolean {
  const error = unwrap(given);
  const { reachability, failedAttempts } = connection;
  if (error instanceof IdentityError) {
    // The last attempt sent nothing, so only earlier ones may have started the job.
    return failedAttempts.some((earlier) => mayHaveStarted(earlier, connection));
  }
  if (error instanceof ApiError) {
    // The gateway's own errors have a code. Without one, a proxy responded, and may have forwarded
    // the request.
    return error instanceof OutcomeUnknownError || (error.status >= 500 && error.code === null);
  }
  if (error instanceof DecodeError) return !isForeign(error);
  if (reachability.requests === 0 || reachability.connectFailure !== undefined) return false;
  return [ConnectionError, RequestTimeoutError].some((type) => error instanceof type);
}

/** Returns the reason why a 2xx response cannot be read, or else the error itself. */
function unwrap(error: unknown): unknown {
  const isUnreadable = error instanceof OutcomeUnknownError && error.cause instanceof DecodeError;
  return isUnreadable ? error.cause : error;
}

/** Returns whether the response shows that the input `gateway` is not a gateway. */
function isForeign(error: ApiError | DecodeError): boolean {
  if ((error.headers.get("content-type") ?? "").includes("json")) return false;
  return error instanceof DecodeError || (error.code === null && error.status < 500);
}

/** Returns the last path segment of a problem's type, such as `identity-not-mapped`. */
export function readProblemKind(error: unknown): string | undefined {
  return error instanceof ApiError ? error.code?.split("/").at(-1) : undefined;
}

/** Explains why the job was not started, and which input to change. */
export function explainCreation(
  given: unknown,
  inputs: Inputs,
  reachability: Reachability | undefined,
): string {
  const error = unwrap(given);
  const { gateway, project, audience, token } = inputs;
  const says = error instanceof Error ? error.message : String(error);
  if (error instanceof ConnectionError && reachability?.connectFailure !== undefined) {
    const { reason, summary, advice } = reachability.connectFailure;
    const isAddress = ["dns", "refused", "unreachable", "port"].includes(reason);
    return `${summary}; ${isAddress ? "check the input gateway" : advice}`;
  }
  const foreign = error instanceof ApiError && explainResponse(error, error.problem ?? undefined);
  if (foreign && foreign.reason !== "redirect") return says;
  if ((error instanceof ApiError || error instanceof DecodeError) && isForeign(error)) {
    const type = error.headers.get("content-type")?.split(";")[0] ?? "without a type";
    const status = error instanceof ApiError ? error.status : "200";
    const found = foreign ? `; ${foreign.summary}` : "";
    return `${gateway} is not a Quillgate gateway (status ${status}, ${type}${found}); check the input gateway`;
  }
  if (error instanceof ValidationError) {
    const input = INPUT_NAMES[error.field];
    return input === undefined ? says : `the input ${says.replace(error.field, () => input)}`;
  }
  if (error instanceof AuthenticationError) {
    if (token !== undefined) return `the gateway does not accept the input token: ${says}`;
    const hint = says.includes("audience")
      ? `. The input audience is ${JSON.stringify(audience)}: it must be one that TRUSTED_ISSUERS has for this issuer`
      : "";
    return `the gateway does not accept this identity: ${says}${hint}`;
  }
  const rule = "the rule of TRUSTED_ISSUERS that fits this workflow";
  switch (readProblemKind(error)) {
    case "project-not-allowed":
      return token === undefined
        ? `${says}. Change the input project, or add ${JSON.stringify(project)} to the member projects of ${rule}`
        : `${says}. Change the input project, or give a token for ${JSON.stringify(project)} as the input token`;
    case "insufficient-scope":
      return token === undefined
        ? `${says}. Add it to the member scope of ${rule}`
        : `${says}. Give a token that has it as the input token`;
    case "idempotency-key-reused":
      return (
        `${says}: within 24 hours, the input idempotency-key stands for one prompt in one project. ` +
        "Give another idempotency-key, or the same prompt"
      );
    case "content-too-large":
      return `the prompt is too long: as JSON it may have ${MAX_BODY_BYTES} bytes. Shorten the input prompt or prompt-file`;
    default:
      return explainError(error);
  }
}

/**
 * Describes an error of the gateway or of the identity. Throws any other error again, because it is
 * a bug.
 */
export function explainError(error: unknown): string {
  if (error instanceof AuthenticationError) {
    return `the gateway does not accept this identity: ${error.message}`;
  }
  if (error instanceof PermissionError) {
    return `the gateway does not allow this identity to do it: ${error.message}`;
  }
  if (error instanceof OutcomeUnknownError) {
    return `Mintlify may have started the job: ${error.message}`;
  }
  if (error instanceof RateLimitError) {
    const when = error.retryAfter === null ? "" : ` Try again in ${error.retryAfter} s.`;
    return `the gateway accepts no more jobs for now: ${error.message}.${when}`;
  }
  if (error instanceof ConnectionError && error.cause instanceof IdentityError) {
    return error.cause.message;
  }
  if (error instanceof ConnectionError || error instanceof RequestTimeoutError) {
    return `the gateway cannot be reached: ${error.message}`;
  }
  if (error instanceof ApiError) {
    const request = error.requestId === null ? "" : ` (request ${error.requestId})`;
    return `the gateway refused: ${error.message}${request}`;
  }
  if (error instanceof QuillgateError || error instanceof IdentityError) return error.message;
  throw error;
}
