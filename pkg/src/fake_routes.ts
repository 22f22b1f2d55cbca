/** Routes and validates requests to the fake gateway, by the declarations of the operations. */

import type { FakeParams } from "./fake_reports.js";
import { invalidParameter, problemReply, Refusal } from "./fake_response.js";
import { ROUTES, type Route, type RouteParameter } from "./generated/routes.js";

/** A request that matches a route. */
export interface RoutedRequest {
  route: Route;
  projectId: string;
  /** The unchecked parameters: strings from the URL, and values of the body. */
  given: Record<string, unknown>;
}

/**
 * Returns the route and parameters of a request.
 *
 * @throws {Refusal} 404 or 405
 */
export function matchRoute(method: string, url: URL, body: unknown): RoutedRequest {
  const matches = ROUTES.flatMap((route) => {
    const found = toPattern(route.path).exec(url.pathname);
    return found ? [{ route, segments: found.groups ?? {} }] : [];
  });
  const match = matches.find(({ route }) => route.method === method);
  if (match === undefined) throw refuse(matches.map(({ route }) => route.method));
  const { projectId = "", ...path } = decodeSegments(match.segments);
  const given = { ...Object.fromEntries(url.searchParams), ...Object(body), ...path };
  return { route: match.route, projectId, given };
}

function refuse(methods: string[]): Refusal {
  if (methods.length === 0) return new Refusal(problemReply("not-found", "no such path"));
  const allow = [
    ...methods.flatMap((each) => (each === "GET" ? ["GET", "HEAD"] : each)),
    "OPTIONS",
  ].join(", ");
  const detail = `this path supports ${allow}`;
  return new Refusal(problemReply("method-not-allowed", detail, {}, { allow }));
}

/** Returns the pattern of a route. A request's path may start with the path of a base URL. */
function toPattern(path: string): RegExp {
  return new RegExp(`${path.replace(/\{(\w+)\}/g, "(?<$1>[^/]+)")}$`);
}

function decodeSegments(segments: Record<string, string>): Record<string, string> {
  const entries = Object.entries(segments);
  return Object.fromEntries(entries.map(([name, text]) => [name, decodeURIComponent(text)]));
}

/**
 * Validates parameters and adds defaults.
 *
 * @throws {Refusal} 400 for the first invalid parameter
 */
export function checkParams({ route, given }: RoutedRequest): FakeParams {
  const known = new Set(route.parameters.map(({ name }) => name));
  const unknown = Object.keys(given).find((name) => !known.has(name));
  if (unknown !== undefined) {
    throw invalidParameter(unknown, "unknown", "is not a parameter of this operation");
  }
  const params: Record<string, string | number> = {};
  for (const parameter of route.parameters) {
    const value = given[parameter.name] ?? parameter.integer?.default;
    if (value === undefined && !parameter.isRequired) continue;
    checkValue(parameter, value);
    params[parameter.name] = parameter.integer ? Number(value) : String(value);
  }
  return params;
}

function checkValue({ name, integer, values }: RouteParameter, value: unknown): void {
  if (value === undefined) throw invalidParameter(name, "required", "is required");
  if (integer) {
    const { min, max, rule } = integer;
    const fits = /^\d+$/.test(String(value)) && Number(value) >= min && Number(value) <= max;
    if (!fits) throw invalidParameter(name, rule, `must be an integer from ${min} to ${max}`);
    return;
  }
  if (typeof value !== "string") throw invalidParameter(name, "text", "must be a string");
  if (value === "") throw invalidParameter(name, "not-empty", "must have at least one character");
  if (values && !values.includes(value)) {
    throw invalidParameter(name, "one-of", `must be one of ${values.join(", ")}`);
  }
}
