import type { ComponentType } from "preact";
import type { Session } from "./session/session.ts";
import type { Route } from "./shell/route_names.ts";

type RouteComponent = ComponentType<{ session: Session }>;

const loadReports = () => import("./analytics/page_views.tsx");

/** Fetches what a route shows, which no other route loads. */
export const ROUTE_CODE: Record<Route, () => Promise<RouteComponent>> = {
  jobs: async () => (await import("./jobs/jobs.tsx")).Jobs,
  views: async () => (await loadReports()).PageViewsView,
  visitors: async () => (await loadReports()).Visitors,
  searches: async () => (await loadReports()).Searches,
  feedback: async () => (await loadReports()).Feedback,
};
