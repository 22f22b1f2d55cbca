import { setImmediate as settle } from "node:timers/promises";

/** Returns a promise and the function that resolves it. */
export function createGate() {
  let open;
  const opened = new Promise((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

export async function until(condition) {
  while (!condition()) await settle();
}
