import { type Route, requestedRoute } from "./route_names.ts";

/** The parts of the address that routes own. Each route declares and registers its part. */
// biome-ignore lint/suspicious/noEmptyInterface: routes add to it
export interface AddressParts {}

/**
 * The page's address. It never contains a token, because addresses end up in histories and logs.
 */
export interface Address extends AddressParts {
  route: Route;
  /** Null until there is a session or a link that names a project. */
  project: string | null;
}

export type AddressChange = Partial<Pick<Address, "route" | "project">> & {
  [Name in keyof AddressParts]?: Partial<AddressParts[Name]>;
};

/** How a route reads and writes its part of the address. */
export interface AddressPart<Value> {
  /** The routes with this part in their address. */
  routes: readonly Route[];
  parse(query: URLSearchParams): Value;
  /**
   * Returns the names and values of the parameters. Values that equal the default can be left out.
   */
  format(value: Value): [string, string][];
  /** Returns the changes that follow from a change of this part or of the route. */
  onChange?(change: Partial<Value>, from: Route, to: Route): Partial<Value>;
  /** Returns the changes that follow from opening another project. */
  onOtherProject?(): Partial<Value>;
}

const parts = new Map<string, AddressPart<object>>();

/** Registers a part. Must run before the page reads its address. */
export function registerAddressPart<Name extends keyof AddressParts>(
  name: Name,
  part: AddressPart<AddressParts[Name]>,
): void {
  parts.set(name, part as AddressPart<object>);
}

export function parseAddress(search: string): Address {
  const query = new URLSearchParams(search);
  const values = [...parts].map(([name, part]) => [name, part.parse(query)]);
  const route = requestedRoute(search) ?? "jobs";
  const project = query.get("project") || null;
  return { route, project, ...Object.fromEntries(values) };
}

/** Formats the address as a link. Leaves out the parts of other routes. */
export function formatAddress(address: Address): string {
  const { route, project } = address;
  const query = new URLSearchParams({ route });
  if (project !== null) query.set("project", project);
  for (const [name, part] of parts) {
    if (!part.routes.includes(route)) continue;
    for (const [key, value] of part.format(partOf(address, name))) query.append(key, value);
  }
  return `?${query}`;
}

export function changeAddress(address: Address, change: AddressChange): Address {
  const { route = address.route, project = address.project } = change;
  const isOtherProject = address.project !== null && project !== address.project;
  const values = [...parts].map(([name, part]) => {
    const changes = partOf(change, name);
    const implied = {
      ...(isOtherProject && part.onOtherProject?.()),
      ...part.onChange?.(changes, address.route, route),
    };
    return [name, { ...partOf(address, name), ...implied, ...changes }];
  });
  return { ...address, ...change, ...Object.fromEntries(values) };
}

function partOf(address: Address | AddressChange, name: string): object {
  return (address as unknown as Record<string, object>)[name] ?? {};
}
