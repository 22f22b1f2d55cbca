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
import { type Identity, IdentityError } from "./identity.js";
import { type Inputs, MAX_BODY_BYTES } from "./inputs.js";
import { Reachability } from "./reachability.js";
import type { Outcome } from "./report.js";
import type { Runner } from "./runner.js";

/**
 * How long a creation may continue after a cancellation, in milliseconds. The runner allows 7.5 s
 * in total.
 */
const CREATION_GRACE = 3_000;
/**
 * How long to retry a failed creation, in milliseconds. Retries are safe, because the gateway
 * creates one job per key.
 */
const CREATION_PATIENCE = 30_000;
const MAX_RETRIES = 10;
/** The pause between two waits for a job, in milliseconds. It applies if a wait fails early. */
const WAIT_PAUSE = 1_000;
/** The inputs of the action, by the names that the package uses. */
const INPUT_NAMES: Readonly<Record<string, string>> = {
  baseUrl: "gateway",
  projectId: "project",
  idempotencyKey: "idempotency-key",
  prompt: "prompt",
  token: "token",
};

/** A connection to the gateway. */
export interface Connection {
  client: Client;
  /** Aborts when no further token is available and retries cannot help. The reason is the error. */
  lost: AbortSignal;
  reachability: Reachability;
  /** Called before a creation is retried, with the error and the wait in milliseconds. */
  onRetry: ((error: QuillgateError, wait: number) => void) | undefined;
}

/** A created job. */
export interface CreatedJob {
  job: AgentJob;
  /** Whether an earlier step with the same key created the job. */
  isReused: boolean;
}

/** Connects to the gateway. Each request carries a token that is valid when it is sent. */
export function connect(
  inputs: Inputs,
  identity: Identity,
  token: string,
  runner: Runner,
): Connection {
  const lost = new AbortController();
  const reachability = new Reachability(inputs.gateway, runner);
  const debug = (message: string, ...rest: unknown[]) => {
    runner.debug([message, ...rest].map(String).join(" "));
  };
  const connection: Omit<Connection, "client"> = {
    ...{ lost: lost.signal, reachability, onRetry: undefined },
  };
  const client = new Client({
    baseUrl: inputs.gateway,
    projectId: inputs.project,
    auth: { token },
    fetch: async (request) => {
      const current = await identity.token(request.signal).catch((error: unknown) => {
        // The package treats this error as a broken connection and retries it. `lost` reports that
        // retries cannot help.
        if (error instanceof IdentityError && !error.mayPass) lost.abort(error);
        throw error;
      });
      request.headers.set("authorization", `Bearer ${current}`);
      return reachability.send(request);
    },
    defaultHeaders: { "user-agent": "quillgate-action" },
    logger: { error: debug, warn: debug, info: debug, debug },
    logLevel: runner.isDebug ? "debug" : "off",
    onRetry: ({ error, wait }) => connection.onRetry?.(error, wait),
  });
  return Object.assign(connection, { client });
}

/**
 * Returns an idempotency key for the step. Retries of the step within one attempt of the run have
 * the same key.
 *
 * The legs of a matrix share all variables of the runner, so the key also depends on the prompt.
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

/** Creates the job. After a cancellation, the gateway has a few seconds to return the job's id. */
export async function createJob(
  connection: Connection,
  inputs: Inputs,
  key: string,
  { runner, signal }: { runner: Runner; signal: AbortSignal },
): Promise<CreatedJob> {
  const abort = new AbortController();
  const end = performance.now() + Math.min(CREATION_PATIENCE, inputs.timeout);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const onAbort = () => {
    timer = setTimeout(() => abort.abort(signal.reason), CREATION_GRACE);
  };
  signal.addEventListener("abort", onAbort);
  connection.onRetry = (error, wait) => {
    // An earlier request with this key is still running. The package limits that wait itself.
    if (performance.now() + wait > end && !(error instanceof ConflictError)) {
      abort.abort(error);
      return;
    }
    const why = connection.reachability.obstacle ?? error.message;
    runner.info(`${why}; trying again in ${Math.ceil(wait / 1_000)} s`);
  };
  try {
    const options = { idempotencyKey: key, signal: abort.signal, maxRetries: MAX_RETRIES };
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

/** Waits until the job finishes, the timeout expires or the step is cancelled. */
export async function waitForJob(
  { client, lost, reachability }: Connection,
  created: AgentJob,
  options: {
    /** In milliseconds. */
    timeout: number;
    /** The timeout as written in the workflow, for messages. */
    after: string;
    signal: AbortSignal;
    onUpdate: (job: AgentJob) => void;
  },
): Promise<Outcome> {
  const { timeout, after, signal, onUpdate } = options;
  const end = performance.now() + timeout;
  let job = created;
  /** Why the last wait failed; reset by the next update of the job. */
  let failure: string | undefined;
  const expire = (): Outcome => {
    return { kind: "timed-out", job, after, trouble: reachability.loss ?? failure };
  };
  reachability.isReported = true;
  for (;;) {
    try {
      await client.agentJobs.wait(created.id, {
        timeout: Math.max(1, Math.ceil(end - performance.now())),
        signal: AbortSignal.any([signal, lost]),
        onUpdate: (next) => {
          failure = undefined;
          // Mintlify may omit the id from later responses, but it does not change.
          job = { ...next, id: next.id ?? job.id };
          onUpdate(job);
        },
      });
      return { kind: "ended", job };
    } catch (error) {
      if (signal.aborted) return { kind: "cancelled", job };
      if (error instanceof JobWaitTimeoutError) return expire();
      const reason = explainError(lost.aborted ? lost.reason : error);
      if (lost.aborted || !mayPass(error)) return { kind: "failed", job, reason };
      failure = reason;
    }
    if (performance.now() + WAIT_PAUSE >= end) return expire();
    await new Promise((resolve) => setTimeout(resolve, WAIT_PAUSE));
    if (signal.aborted) return { kind: "cancelled", job };
  }
}

/** Returns whether a retry may succeed after an error. */
function mayPass(error: unknown): boolean {
  return [ConnectionError, RequestTimeoutError, ServerError].some((type) => error instanceof type);
}

/**
 * Returns whether a failed creation may have started the job. Only an explicit rejection excludes
 * that.
 */
export function mayHaveStarted(error: unknown, { reachability }: Connection): boolean {
  if (error instanceof ApiError) {
    // A 5xx that is not a problem comes from a proxy, which may have forwarded the request.
    return error instanceof OutcomeUnknownError || (error.status >= 500 && error.code === null);
  }
  if (error instanceof DecodeError) return !isForeign(error);
  if (reachability.requests === 0 || reachability.obstacle !== undefined) return false;
  return [ConnectionError, RequestTimeoutError].some((type) => error instanceof type);
}

/** Returns whether the response does not come from a gateway or from a proxy in front of one. */
function isForeign(error: ApiError | DecodeError): boolean {
  if ((error.headers.get("content-type") ?? "").includes("json")) return false;
  return error instanceof DecodeError || (error.code === null && error.status < 500);
}

/** Returns the last segment of a problem's type, such as `identity-not-mapped`. */
export function readProblemKind(error: unknown): string | undefined {
  return error instanceof ApiError ? error.code?.split("/").at(-1) : undefined;
}

/**
 * Explains in a sentence why the job was not started. Names the input to change, if there is one.
 */
export function explainCreation(
  error: unknown,
  inputs: Inputs,
  reachability: Reachability | undefined,
): string {
  const { gateway, project, audience, token } = inputs;
  const says = error instanceof Error ? error.message : String(error);
  if (error instanceof ConnectionError && reachability?.obstacle !== undefined) {
    return `${reachability.obstacle}; check the input gateway`;
  }
  if ((error instanceof ApiError || error instanceof DecodeError) && isForeign(error)) {
    const type = error.headers.get("content-type")?.split(";")[0] ?? "without a type";
    const status = error instanceof ApiError ? error.status : "200";
    return `what answers at ${gateway} is no Quillgate gateway (status ${status}, ${type}); check the input gateway`;
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

/** Describes an error in a sentence. Throws the error again if it is unexpected. */
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
