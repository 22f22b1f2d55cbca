/** Sends write requests with an idempotency key, and explains how to repeat them. */

import { randomUUID } from "node:crypto";
import type { ApiError, Client, WriteOptions } from "../index.js";
import { type Context, readSwitch, readText } from "./command.js";
import { connect } from "./connection.js";
import { UsageError } from "./errors.js";
import { findExitCode, getExitCode } from "./exit_codes.js";

/** Connects and sends a write request. See {@link prepareWrite}. */
export async function sendWrite<Result>(
  context: Context,
  send: Send<Result>,
): Promise<{ client: Client; result: Result }> {
  const { client, write } = await prepareWrite(context);
  return { client, result: await write(send) };
}

type Send<Result> = (client: Client, options: WriteOptions) => Promise<Result>;

/**
 * Connects. Returns a function that sends a write request with the key and the switch of the flags
 * for writes.
 *
 * @throws {UsageError} for `--force` without `--idempotency-key`, for `--idempotency-key` with an admin
 *   key, and if a setting is missing or invalid
 */
export async function prepareWrite(
  context: Context,
): Promise<{ client: Client; write: <Result>(send: Send<Result>) => Promise<Result> }> {
  const { signal } = context;
  const force = readSwitch(context, "force");
  const given = readText(context, "idempotency-key");
  if (force && given === undefined) {
    throw new UsageError(
      "--force needs the --idempotency-key of the request with the unknown outcome",
    );
  }
  const { client, gateway } = await connect(context);
  if (gateway === null && given !== undefined) {
    throw new UsageError("--idempotency-key needs a gateway: Mintlify itself has no such keys");
  }
  const idempotencyKey = gateway === null ? undefined : (given ?? randomUUID());
  const write = <Result>(send: Send<Result>) =>
    send(client, { idempotencyKey, force, signal }).catch((error: unknown) => {
      hintAtRetry(context, error, idempotencyKey);
      throw error;
    });
  return { client, write };
}

/** The first request with the key is still running. */
const KEY_IN_USE = "/problems/idempotency-key-in-use";

/** Adds hints on how to repeat a write that may have succeeded. */
function hintAtRetry(context: Context, error: unknown, idempotencyKey: string | undefined): void {
  const { output, signal } = context;
  const isKeyGiven = readText(context, "idempotency-key") !== undefined;
  const code = findExitCode(error);
  const { status, cause, headers, code: kind } = error as ApiError;
  const repeat = `to repeat it safely: --idempotency-key ${idempotencyKey}`;
  // The gateway has completed the write, so it answers a repeated request with the same response.
  const isUnknown = code === getExitCode("outcomeUnknown");
  const isStored =
    isUnknown && status < 300 && (cause as Error | undefined)?.name !== "DecodeError";
  if (isStored && idempotencyKey !== undefined) {
    output.hint(repeat);
  } else if (isUnknown) {
    output.hint("check Mintlify's dashboard first: repeating the request may run it twice");
    if (idempotencyKey !== undefined) {
      output.hint(`to repeat it: --idempotency-key ${idempotencyKey} --force`);
    }
  } else if (isKeyGiven && headers?.get("idempotent-replayed") === "true") {
    output.hint(
      "this is the stored answer to an earlier request: to send a new one, set a different --idempotency-key",
    );
  } else if (signal.aborted || code === getExitCode("unavailable") || kind === KEY_IN_USE) {
    const again =
      idempotencyKey === undefined
        ? "it may have run: check Mintlify's dashboard before you repeat it"
        : repeat;
    output.hint(again);
  }
}
