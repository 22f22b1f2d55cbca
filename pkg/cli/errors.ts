/** Incorrect use of the command line, and interruptions. */

/** The reason of an aborted signal: the user or the system interrupted the command. */
export class Interruption extends Error {
  override name = "Interruption";

  /** @param code the exit code, which identifies the signal */
  constructor(readonly code: number) {
    super("interrupted");
  }
}

/**
 * Incorrect use of the command line. The message names the part but never quotes a possible secret.
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
