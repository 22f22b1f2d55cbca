/** Maximum time for loading a style sheet again, in milliseconds. */
const TIMEOUT = 10_000;

/** Style sheets that failed to load. Vite requests each only once. */
const failedStyles = new Set<HTMLLinkElement>();
/** Pending requests of these style sheets. Several parts may wait for the same one. */
const reloads = new Set<Promise<unknown>>();

addEventListener(
  "error",
  ({ target }) => {
    const isStyles = target instanceof HTMLLinkElement && target.rel === "stylesheet";
    if (isStyles) failedStyles.add(target);
  },
  // Errors of links do not bubble.
  { capture: true },
);

/**
 * Requests failed style sheets again, and waits until all of them have loaded. Rejects if one of
 * them fails again or exceeds `TIMEOUT`.
 */
export function reloadStyles(): Promise<unknown> {
  const links = [...failedStyles].filter((link) => link.isConnected);
  failedStyles.clear();
  for (const link of links) {
    const again = link.cloneNode() as HTMLLinkElement;
    link.replaceWith(again);
    const reload: Promise<unknown> = new Promise((resolve, reject) => {
      again.addEventListener("load", (event) => {
        // The style sheet can arrive after the timeout.
        failedStyles.delete(again);
        resolve(event);
      });
      again.addEventListener("error", reject);
      setTimeout(() => {
        if (reloads.has(reload)) failedStyles.add(again);
        reject();
      }, TIMEOUT);
    }).finally(() => reloads.delete(reload));
    reloads.add(reload);
  }
  return Promise.all(reloads);
}
