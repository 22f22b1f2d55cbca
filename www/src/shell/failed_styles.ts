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

/** Requests failed style sheets again, and waits until all of them have loaded. */
export function reloadStyles(): Promise<unknown> {
  for (const link of failedStyles) {
    const again = link.cloneNode() as HTMLLinkElement;
    link.replaceWith(again);
    const reload = new Promise((resolve, reject) => {
      again.addEventListener("load", resolve);
      again.addEventListener("error", reject);
    }).finally(() => reloads.delete(reload));
    reloads.add(reload);
  }
  failedStyles.clear();
  return Promise.all(reloads);
}
