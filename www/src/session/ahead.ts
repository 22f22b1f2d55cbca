/** What the page's first lines ask for, while the rest of the page is still on its way. */
import coreUrl from "../../../pkg/dist/core_bg.wasm?url";
import { ROUTE_CODE } from "../route_code.ts";
import { warmUpFormats } from "../shell/ahead_of_wording.ts";
import { requestedRoute } from "../shell/route_names.ts";
import { askAhead } from "./ask.ts";
import { mayBeSignedIn } from "./may_be_signed_in.ts";

/** Asks for what the address will need. Whether it comes is seen later, by whoever needs it. */
export function fetchAhead(): void {
  if (!mayBeSignedIn(location.search, Date.now())) {
    import("./sign_in.tsx").catch(() => {});
    return;
  }
  askAhead();
  document.head.append(preloadOf(coreUrl));
  import("./open_session.ts").catch(() => {});
  const route = requestedRoute(location.search);
  if (route !== null) ROUTE_CODE[route]().catch(() => {});
  // There is nothing else to do until some of it is here.
  warmUpFormats();
}

/** What makes the browser fetch a file as `fetch` will ask for it. */
function preloadOf(href: string): HTMLLinkElement {
  return Object.assign(document.createElement("link"), {
    rel: "preload",
    as: "fetch",
    crossOrigin: "anonymous",
    href,
  });
}
