/** Explains errors of the gateway and of the identity. */

import {
  ApiError,
  AuthenticationError,
  ConnectionError,
  DecodeError,
  OutcomeUnknownError,
  PermissionError,
  QuillgateError,
  RateLimitError,
  RequestTimeoutError,
  ValidationError,
} from "quillgate/inline";
import { explainResponse } from "../../pkg/dist/opaque_failure.js";
import { isForeign, isReplayed, readProblemKind, unwrap } from "./connection.js";
import { IdentityError } from "./identity.js";
import type { Place } from "./inputs.js";
import { MAX_BODY_BYTES } from "./prompt.js";
import type { Reachability } from "./reachability.js";

/** The name of what a command starts. Appears in messages. */
export type Noun = "job" | "deployment" | "preview" | "run";

/** Maps the package's field names to the action's inputs. */
const INPUT_NAMES: Readonly<Record<string, string>> = {
  baseUrl: "gateway",
  projectId: "project",
  idempotencyKey: "idempotency-key",
  prompt: "prompt",
  token: "token",
  branch: "branch",
  workflowSchemaId: "automation",
};
/** The input that an idempotency key is bound to. */
const KEYED: Readonly<Record<Noun, string>> = {
  job: "prompt",
  deployment: "deployment",
  preview: "branch",
  run: "automation",
};

/** Explains why nothing was started, and which input to change. */
export function explainStart(
  given: unknown,
  noun: Noun,
  inputs: Place,
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
        ? `${says}. Change the input project, or add ${JSON.stringify(project)} to the projects of ${rule}`
        : `${says}. Change the input project, or give a token for ${JSON.stringify(project)} as the input token`;
    case "insufficient-scope":
      return token === undefined
        ? `${says}. Add it to the scope of ${rule}`
        : `${says}. Give a token that has it as the input token`;
    case "idempotency-key-reused":
      return (
        `${says}: within 24 hours, the input idempotency-key stands for one ${KEYED[noun]} in one project. ` +
        `Give another idempotency-key, or the same ${KEYED[noun]}`
      );
    case "content-too-large":
      return `the prompt is too long: as JSON it may have ${MAX_BODY_BYTES} bytes. Shorten the input prompt or prompt-file`;
    default:
      return explainError(error, noun);
  }
}

/** Returns how to repeat a write whose stored refusal the gateway has sent again. */
export function explainReplay(given: unknown, { idempotencyKey }: Place): string {
  const error = unwrap(given);
  const isRefusal = error instanceof ApiError && !(error instanceof OutcomeUnknownError);
  if (!isRefusal || !isReplayed(error)) return "";
  const action =
    idempotencyKey === undefined
      ? "start a new run, or set the input idempotency-key"
      : "set another idempotency-key";
  return `. This is the answer to an earlier attempt: ${action}`;
}

/**
 * Describes an error of the gateway or of the identity. Throws any other error again, because it is
 * a bug.
 */
export function explainError(error: unknown, noun: Noun): string {
  if (error instanceof AuthenticationError) {
    return `the gateway does not accept this identity: ${error.message}`;
  }
  if (error instanceof PermissionError) {
    return `the gateway does not allow this identity to do it: ${error.message}`;
  }
  if (error instanceof OutcomeUnknownError) {
    return `Mintlify may have started the ${noun}: ${error.message}`;
  }
  if (error instanceof RateLimitError) {
    const when = error.retryAfter === null ? "" : ` Try again in ${error.retryAfter} s.`;
    return `the gateway accepts no more ${noun}s for now: ${error.message}.${when}`;
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
