/** Loaded before anything else, so that a cancellation is heard from the first moment. */

/** As a shell says that a signal ended a program. */
const SIGNAL_CODES = { SIGINT: 130, SIGTERM: 143, SIGBREAK: 149 } as const;

const controller = new AbortController();
for (const [name, code] of Object.entries(SIGNAL_CODES)) {
  process.on(name, () => {
    // Asked a second time, it leaves things as they are.
    if (controller.signal.aborted) process.exit();
    process.exitCode = code;
    controller.abort(new Error("the step was cancelled"));
  });
}

/** Aborts when the step is cancelled. */
export const cancellation: AbortSignal = controller.signal;
