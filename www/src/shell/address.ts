import {
  formatViewsAddress,
  parseViewsAddress,
  type ViewsAddress,
} from "../analytics/views_address.ts";
import { formatJobsAddress, type JobsAddress, parseJobsAddress } from "../jobs/jobs_address.ts";
import { type Route, requestedRoute } from "./route_names.ts";

/** What the page's address says. Never a token: addresses end up in histories and logs. */
export interface Address {
  route: Route;
  /** Null until there is a session, or a link that names one. */
  project: string | null;
  jobs: JobsAddress;
  analytics: ViewsAddress;
}

/** What is to be different at another address. */
export interface AddressChange {
  route?: Route;
  project?: string | null;
  jobs?: Partial<JobsAddress>;
  analytics?: Partial<ViewsAddress>;
}

export function parseAddress(search: string): Address {
  const query = new URLSearchParams(search);
  return {
    route: requestedRoute(search) ?? "jobs",
    project: query.get("project") || null,
    jobs: parseJobsAddress(query),
    analytics: parseViewsAddress(query),
  };
}

/** The address as a link: what the route shows, and nothing of the other routes. */
export function formatAddress({ route, project, jobs, analytics }: Address): string {
  const query = new URLSearchParams({ route });
  if (project !== null) query.set("project", project);
  const own = route === "jobs" ? formatJobsAddress(jobs) : formatViewsAddress(analytics, route);
  for (const [name, value] of own) query.set(name, value);
  return `?${query}`;
}

export function changeAddress(address: Address, change: AddressChange): Address {
  const { route = address.route } = change;
  // A filter of paths finds no search term, and the other way round.
  const isOther = (route === "searches") !== (address.route === "searches");
  return {
    ...address,
    ...change,
    jobs: { ...address.jobs, ...change.jobs },
    analytics: {
      ...address.analytics,
      ...(isOther && { filter: "" }),
      ...(change.analytics?.range && { hasInvalidDates: false }),
      ...change.analytics,
    },
  };
}
