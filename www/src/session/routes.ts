import type { Route } from "../shell/route_names.ts";
import { allows, type Claims, type Scope } from "./claims.ts";

export interface RouteScreen {
  id: Route;
  /** The heading and the link in the masthead. */
  title: string;
  /** The key to press after "g" to open the route. */
  key: string;
  /** At least one of these scopes is required. */
  scopes: readonly Scope[];
}

const ANALYTICS: readonly Scope[] = ["analytics:read"];
const DEPLOYMENTS: readonly Scope[] = ["deployments:read"];
const CONVERSATIONS: readonly Scope[] = ["analytics:conversations"];
const JOBS: RouteScreen = {
  id: "jobs",
  title: "Agent jobs",
  key: "j",
  scopes: ["jobs:read", "jobs:create"],
};

export const ROUTE_SCREENS: readonly RouteScreen[] = [
  {
    id: "today",
    title: "Today",
    key: "t",
    scopes: ["jobs:read", ...DEPLOYMENTS, ...ANALYTICS, ...CONVERSATIONS],
  },
  JOBS,
  { id: "deployments", title: "Deployments", key: "d", scopes: DEPLOYMENTS },
  { id: "views", title: "Page views", key: "v", scopes: ANALYTICS },
  { id: "visitors", title: "Visitors", key: "u", scopes: ANALYTICS },
  { id: "searches", title: "Searches", key: "s", scopes: ANALYTICS },
  { id: "feedback", title: "Feedback", key: "k", scopes: ANALYTICS },
  { id: "conversations", title: "Conversations", key: "c", scopes: CONVERSATIONS },
];

/** Returns the routes that a session's scopes allow, in the order of the masthead. */
export function allowedRoutes(claims: Claims): RouteScreen[] {
  return ROUTE_SCREENS.filter(({ scopes }) => scopes.some((scope) => allows(claims, scope)));
}

export function screenOf(route: Route): RouteScreen {
  return ROUTE_SCREENS.find(({ id }) => id === route) ?? JOBS;
}
