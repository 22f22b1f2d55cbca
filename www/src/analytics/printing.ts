import { signal } from "@preact/signals";
import { options } from "preact";

/** Whether the browser is printing the page. */
export const isPrinting = signal(false);

if (typeof addEventListener === "function") {
  addEventListener("beforeprint", () => renderNow(true));
  addEventListener("afterprint", () => renderNow(false));
}

/** Renders before it returns, because the browser prints what is in the document then. */
function renderNow(value: boolean): void {
  const { debounceRendering } = options;
  options.debounceRendering = (render) => render();
  isPrinting.value = value;
  if (debounceRendering) options.debounceRendering = debounceRendering;
  else delete options.debounceRendering;
}
