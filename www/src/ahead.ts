/** Early requests. The page sends these requests while the rest of its code is still loading. */
import { ROUTE_CODE } from "./route_code.ts";
import { askAhead } from "./session/ask.ts";
import { mayBeSignedIn } from "./session/may_be_signed_in.ts";
import { restoreAddress } from "./session/sign_in_return.ts";
import { warmUpFormats } from "./shell/ahead_of_wording.ts";
import { requestedRoute } from "./shell/route_names.ts";

/**
 * Requests the session, the package and the code of the route. If the person is signed out,
 * requests only the code of the sign-in form. Failures surface later, where the result is used.
 */
export function fetchAhead(): void {
  restoreAddress();
  if (!mayBeSignedIn(location.search, Date.now())) {
    import("./session/sign_in.tsx").catch(() => {});
    return;
  }
  askAhead();
  const core = document.querySelector<HTMLMetaElement>("meta[name=core]");
  if (core !== null) document.head.append(preloadOf(core.content));
  import("./session/open_session.ts").catch(() => {});
  const route = requestedRoute(location.search);
  if (route !== null) ROUTE_CODE[route]().catch(() => {});
  // Use the wait for the first response.
  warmUpFormats();
}

/** Returns a preload link that matches a later `fetch` of the same URL. */
function preloadOf(href: string): HTMLLinkElement {
  return Object.assign(document.createElement("link"), {
    rel: "preload",
    as: "fetch",
    crossOrigin: "anonymous",
    href,
  });
}
