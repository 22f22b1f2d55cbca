export const ROUTES = [
  "today",
  "jobs",
  "deployments",
  "views",
  "visitors",
  "feedback",
  "searches",
  "conversations",
] as const;
export type Route = (typeof ROUTES)[number];

/** Returns the route that an address names; null if it names none. */
export function requestedRoute(search: string): Route | null {
  const query = new URLSearchParams(search);
  const named = query.get("route");
  return ROUTES.find((route) => route === named) ?? (query.has("job") ? "jobs" : null);
}
