import type { ComponentType } from "preact";
import type { Session } from "./session/session.ts";
import type { Route } from "./shell/route_names.ts";

export type RouteComponent = ComponentType<{ session: Session }>;

const loadReports = () => import("./analytics/page_views.tsx");

export const ROUTE_CODE: Record<Route, () => Promise<RouteComponent>> = {
  today: async () => (await import("./today/today.tsx")).Today,
  jobs: async () => (await import("./jobs/jobs.tsx")).Jobs,
  deployments: async () => (await import("./deployments/deployments.tsx")).Deployments,
  views: async () => (await loadReports()).PageViewsView,
  visitors: async () => (await loadReports()).Visitors,
  searches: async () => (await loadReports()).Searches,
  feedback: async () => (await loadReports()).Feedback,
  conversations: async () => (await import("./analytics/conversations.tsx")).Conversations,
};
