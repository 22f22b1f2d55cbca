interface Scheduler {
  yield?(): Promise<void>;
}

/** Lets the browser draw, and answer whoever uses it, before what comes next. */
export function nextTask(): Promise<void> {
  const { scheduler } = globalThis as { scheduler?: Scheduler };
  return scheduler?.yield?.() ?? new Promise((resolve) => setTimeout(resolve));
}
