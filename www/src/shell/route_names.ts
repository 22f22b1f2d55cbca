export const ROUTES = ["jobs", "views", "visitors", "feedback", "searches"] as const;
export type Route = (typeof ROUTES)[number];

/** The route that an address asks for; null when it leaves the choice to the page. */
export function requestedRoute(search: string): Route | null {
  const query = new URLSearchParams(search);
  // Links from before said "view".
  const named = query.get("route") ?? query.get("view");
  return ROUTES.find((route) => route === named) ?? (query.has("job") ? "jobs" : null);
}
