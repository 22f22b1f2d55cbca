import { ROUTE_CODE, type RouteComponent } from "./route_code.ts";
import { defer } from "./shell/deferred.tsx";
import type { Route } from "./shell/route_names.ts";

/** The component of each route. It loads its code on first render. */
export const ROUTE_COMPONENTS: Record<Route, RouteComponent> = {
  today: defer(ROUTE_CODE.today),
  jobs: defer(ROUTE_CODE.jobs),
  views: defer(ROUTE_CODE.views),
  visitors: defer(ROUTE_CODE.visitors),
  searches: defer(ROUTE_CODE.searches),
  feedback: defer(ROUTE_CODE.feedback),
  conversations: defer(ROUTE_CODE.conversations),
};
