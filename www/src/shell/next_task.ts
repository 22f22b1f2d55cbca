interface Scheduler {
  yield?(): Promise<void>;
}

/** Yields to the browser, so that it can render and handle input. */
export function nextTask(): Promise<void> {
  const { scheduler } = globalThis as { scheduler?: Scheduler };
  return scheduler?.yield?.() ?? new Promise((resolve) => setTimeout(resolve));
}
