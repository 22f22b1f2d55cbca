/**
 * The errors for interruptions and for invalid command lines and settings. Other errors come from
 * jq, the client, the gateway's package or Node.js.
 */

/** Thrown when the user or the system interrupts the command, for example with Ctrl-C. */
export class Interruption extends Error {
  override name = "Interruption";

  /** @param code the exit code, such as 130 after SIGINT */
  constructor(readonly code: number) {
    super("interrupted");
  }
}

/**
 * Thrown for an invalid command line or setting. The message never quotes a value that could be a
 * secret.
 */
export class UsageError extends Error {
  override name = "UsageError";

  /** @param hints suggestions for the user */
  constructor(
    message: string,
    readonly hints: readonly string[] = [],
  ) {
    super(message);
  }
}
