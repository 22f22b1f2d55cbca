/**
 * Handles the cancellation of the step. `main.ts` imports this module first, so that no signal is
 * missed.
 */

/** The exit codes that a shell uses for these signals. */
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

/** Aborts when the step is cancelled. */
export const cancellation: AbortSignal = controller.signal;
