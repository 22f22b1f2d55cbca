import { useEffect, useRef } from "preact/hooks";
import { ROUTE_CODE } from "./route_code.ts";
import * as styles from "./route_links.module.css";
import type { Claims } from "./session/claims.ts";
import { allowedRoutes } from "./session/routes.ts";
import type { AddressChange } from "./shell/address.ts";
import { address, followLink, linkTo } from "./shell/navigation.ts";
import type { Route } from "./shell/route_names.ts";

/** Links to the routes that the session's scopes allow. */
export function RouteLinks({ claims }: { claims: Claims }) {
  const { route } = address.value;
  const current = useRef<HTMLAnchorElement>(null);
  // On phones, the links scroll horizontally.
  useEffect(() => {
    current.current?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [route]);
  return (
    <nav class={styles.links} aria-label="Main">
      {allowedRoutes(claims).map(({ id, title }) => (
        <a
          key={id}
          ref={route === id ? current : null}
          href={linkTo(routeStart(id))}
          aria-current={route === id ? "page" : undefined}
          onPointerEnter={() => fetchCode(id)}
          onFocus={() => fetchCode(id)}
          onClick={(event) => followLink(event, routeStart(id))}
        >
          {title}
        </a>
      ))}
    </nav>
  );
}

/** Returns the change that opens a route without an open job or page. */
export function routeStart(route: Route): AddressChange {
  return { route, jobs: { id: null }, deployments: { id: null }, analytics: { page: null } };
}

/** Preloads the code of a route. A failure shows when the route is opened. */
function fetchCode(route: Route): void {
  ROUTE_CODE[route]().catch(() => {});
}
