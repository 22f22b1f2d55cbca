/**
 * Listens for the signals that cancel the step. `main.ts` imports this module first, because a
 * signal without a listener ends the process immediately.
 */

/** Each signal's exit code: 128 plus the signal's number. */
const SIGNAL_CODES = { SIGINT: 130, SIGTERM: 143, SIGBREAK: 149 } as const;

const controller = new AbortController();
for (const [name, code] of Object.entries(SIGNAL_CODES)) {
  process.on(name, () => {
    // A second signal exits immediately, without cleaning up.
    if (controller.signal.aborted) process.exit();
    process.exitCode = code;
    controller.abort(new Error("the step was cancelled"));
  });
}

/** Aborts on the first of these signals. */
export const cancellation: AbortSignal = controller.signal;
