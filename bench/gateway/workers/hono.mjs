/** A gateway on Hono, with its own middleware where it has one, and the same checks. */

import { env } from "cloudflare:workers";
import { zValidator } from "@hono/zod-validator";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { cors } from "hono/cors";
import { createMiddleware } from "hono/factory";
import { HTTPException } from "hono/http-exception";
import { jwt } from "hono/jwt";
import { proxy } from "hono/proxy";
import * as z from "zod";
import {
  accessProblem,
  claimsProblem,
  isInteger,
  isRange,
  LARGEST_BODY,
  point,
  problem,
  segment,
} from "./rules.mjs";

const KEY = `Bearer ${env.ADMIN_API_KEY}`;
const TIMEOUT = Number(env.UPSTREAM_TIMEOUT_SECONDS) * 1000;
const ORIGINS = env.ALLOWED_ORIGINS.split(",");
const PASSED_ON = ["content-type", "content-language"];

const date = z.string().refine((text) => point(text) !== undefined);
const integer = (least, most) => z.string().refine((text) => isInteger(text, least, most));
const VIEWS_QUERY = z
  .strictObject({
    dateFrom: date.optional(),
    dateTo: date.optional(),
    limit: integer(1, 250).optional(),
    offset: integer(0, Number.MAX_SAFE_INTEGER).optional(),
  })
  .refine(({ dateFrom, dateTo }) => isRange(dateFrom, dateTo));
const NO_QUERY = z.strictObject({});
const NEW_JOB = z.strictObject({ prompt: z.string().min(1) });

const refused = (c, status, kind) =>
  problem(status, kind, c.get("id"), Object.fromEntries(c.res.headers));
const orRefused = ({ success }, c) => (success ? undefined : refused(c, 400, "invalid-request"));

/** What every answer has, and which pages may ask. */
const always = createMiddleware(async (c, next) => {
  const id = crypto.randomUUID();
  c.set("id", id);
  c.header("cache-control", "no-store");
  c.header("x-content-type-options", "nosniff");
  c.header("x-request-id", id);
  const origin = c.req.header("origin");
  const isForeign = origin !== undefined && !ORIGINS.includes(origin);
  if (isForeign && new URL(c.req.url).origin !== origin)
    return refused(c, 403, "origin-not-allowed");
  return await next();
});

const authenticated = jwt({
  secret: env.ACCESS_TOKEN_SECRET,
  alg: "HS256",
  verification: { iss: "quillgate" },
});

/** Claims that `jwt` does not look at, project and scope. */
const allowed = (scope) =>
  createMiddleware(async (c, next) => {
    const claims = c.get("jwtPayload");
    if (claimsProblem(claims, Date.now() / 1000)) return refused(c, 401, "invalid-token");
    const project = segment(c.req.param("projectId"));
    const job = segment(c.req.param("id") ?? "none");
    if (project === undefined || job === undefined) return refused(c, 400, "invalid-request");
    const denied = accessProblem(claims, project, scope);
    return denied ? refused(c, 403, denied) : await next();
  });

const isJson = createMiddleware(async (c, next) => {
  const type = c.req.header("content-type")?.split(";", 1)[0].trim().toLowerCase();
  return type === "application/json" ? await next() : refused(c, 415, "unsupported-media-type");
});
const limited = bodyLimit({
  maxSize: LARGEST_BODY,
  onError: (c) => refused(c, 413, "content-too-large"),
});

const app = new Hono();
app.use(always);
app.use(cors({ origin: ORIGINS, exposeHeaders: ["X-Request-Id", "Retry-After"], maxAge: 7200 }));

const VIEWS = "/v1/analytics/:projectId/views";
const JOBS = "/v2/agent/:projectId/job";
const JOB = "/v2/agent/:projectId/job/:id";
app.get(
  VIEWS,
  authenticated,
  allowed("analytics:read"),
  zValidator("query", VIEWS_QUERY, orRefused),
  (c) => {
    const query = new URLSearchParams(c.req.valid("query")).toString();
    const path = `/v1/analytics/${encodeURIComponent(c.req.param("projectId"))}/views`;
    return forward(c, query === "" ? path : `${path}?${query}`);
  },
);
app.get(JOB, authenticated, allowed("jobs:read"), zValidator("query", NO_QUERY, orRefused), (c) => {
  const { projectId, id } = c.req.param();
  return forward(c, `/v2/agent/${encodeURIComponent(projectId)}/job/${encodeURIComponent(id)}`);
});
app.post(
  JOBS,
  authenticated,
  allowed("jobs:create"),
  zValidator("query", NO_QUERY, orRefused),
  isJson,
  limited,
  zValidator("json", NEW_JOB, orRefused),
  (c) => {
    const target = `/v2/agent/${encodeURIComponent(c.req.param("projectId"))}/job`;
    return forward(c, target, JSON.stringify(c.req.valid("json")));
  },
);
for (const path of [VIEWS, JOBS, JOB]) app.all(path, (c) => refused(c, 405, "method-not-allowed"));
app.notFound((c) => refused(c, 404, "not-found"));
app.onError((error, c) => {
  if (!(error instanceof HTTPException)) return refused(c, 500, "internal");
  const challenge = error.getResponse().headers.get("www-authenticate");
  if (challenge) c.header("www-authenticate", challenge);
  return refused(c, error.status, error.status === 401 ? "invalid-token" : "invalid-request");
});

async function forward(c, target, body) {
  const headers = { accept: "application/json", authorization: KEY };
  if (body !== undefined) headers["content-type"] = "application/json";
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), TIMEOUT);
  const init = { method: c.req.method, headers, body, redirect: "manual" };
  try {
    const answer = await proxy(env.UPSTREAM_BASE_URL + target, {
      ...init,
      signal: controller.signal,
    });
    if (!answer.ok) return await refusal(c, answer);
    for (const name of PASSED_ON) {
      const value = answer.headers.get(name);
      if (value !== null) c.header(name, value);
    }
    return c.body(answer.body, answer.status);
  } catch {
    return refused(c, controller.signal.aborted ? 504 : 502, "upstream-unreachable");
  } finally {
    clearTimeout(timer);
  }
}

async function refusal(c, answer) {
  const { error } = await answer.json().catch(() => ({}));
  const { status } = answer;
  if (status < 400 || status === 401 || status === 403)
    return refused(c, 502, "upstream-credential");
  const headers = Object.fromEntries(c.res.headers);
  const upstream = { status, error };
  return problem(status, "upstream-error", c.get("id"), headers, { upstream });
}

export default app;
