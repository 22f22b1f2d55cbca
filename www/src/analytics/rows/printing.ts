import { signal } from "@preact/signals";
import { options } from "preact";

/** Whether the browser is printing the page. */
export const isPrinting = signal(false);

if (typeof addEventListener === "function") {
  addEventListener("beforeprint", () => renderNow(true));
  addEventListener("afterprint", () => renderNow(false));
}

/**
 * Renders synchronously, because the browser prints the document when the event handler returns.
 */
function renderNow(value: boolean): void {
  const { debounceRendering } = options;
  options.debounceRendering = (render) => render();
  isPrinting.value = value;
  if (debounceRendering) options.debounceRendering = debounceRendering;
  else delete options.debounceRendering;
}
