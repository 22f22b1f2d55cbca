/** A gateway on Hono for job reads, which uses Hono's middleware where it exists. */
import { env } from "cloudflare:workers";
import { zValidator } from "@hono/zod-validator";
import { Hono } from "hono";
import { cors } from "hono/cors";
import { createMiddleware } from "hono/factory";
import { HTTPException } from "hono/http-exception";
import { jwt } from "hono/jwt";
import { proxy } from "hono/proxy";
import * as z from "zod";
import {
  buildProblem,
  decodeSegment,
  findAccessProblem,
  findClaimsProblem,
  isJsonType,
  MAX_JOB,
} from "./rules.mjs";
import { readFailure, readText, TIMEOUT } from "./upstream_client.mjs";

const KEY = `Bearer ${env.ADMIN_API_KEY}`;
const ORIGINS = env.ALLOWED_ORIGINS.split(",");
const FORWARDED = ["content-type", "content-language"];

const text = z.string().nullish();
const NO_QUERY = z.strictObject({});
const JOB = z.looseObject({
  id: text,
  status: text,
  source: z.looseObject({ repository: text, ref: text }).nullish(),
  model: text,
  prLink: text,
  createdAt: text,
  archivedAt: text,
});

const refuse = (c, status, kind, more) => buildProblem(status, kind, c.get("id"), {}, more);
const refuseInvalid = ({ success }, c) => (success ? undefined : refuse(c, 400, "invalid-request"));

const setHeaders = createMiddleware(async (c, next) => {
  const id = crypto.randomUUID();
  c.set("id", id);
  await next();
  const { headers } = c.res;
  headers.set("cache-control", "no-store");
  headers.set("x-content-type-options", "nosniff");
  headers.set("x-request-id", id);
});

const checkOrigin = createMiddleware(async (c, next) => {
  const origin = c.req.header("origin");
  const isForeign = origin !== undefined && !ORIGINS.includes(origin);
  if (isForeign && new URL(c.req.url).origin !== origin) {
    return refuse(c, 403, "origin-not-allowed");
  }
  return await next();
});

const verifyToken = jwt({
  secret: env.ACCESS_TOKEN_SECRET,
  alg: "HS256",
  verification: { iss: "quillgate" },
});

/** Checks the ids, the project, the scope, and the claims that `jwt` does not check. */
const checkAccess = createMiddleware(async (c, next) => {
  const claims = c.get("jwtPayload");
  if (findClaimsProblem(claims, Date.now() / 1000)) return refuse(c, 401, "invalid-token");
  const project = decodeSegment(c.req.param("projectId"));
  const job = decodeSegment(c.req.param("id"));
  if (project === undefined || job === undefined) return refuse(c, 400, "invalid-request");
  const denied = findAccessProblem(claims, project, "jobs:read");
  return denied ? refuse(c, 403, denied) : await next();
});

const app = new Hono();
app.use(setHeaders);
app.use(checkOrigin);
app.use(cors({ origin: ORIGINS, exposeHeaders: ["X-Request-Id", "Retry-After"], maxAge: 7200 }));

const READ = "/v2/agent/:projectId/job/:id";
app.get(READ, verifyToken, checkAccess, zValidator("query", NO_QUERY, refuseInvalid), readJob);
app.all(READ, (c) => refuse(c, 405, "method-not-allowed"));
app.notFound((c) => refuse(c, 404, "not-found"));
app.onError((error, c) => {
  if (!(error instanceof HTTPException)) return refuse(c, 500, "internal");
  const challenge = error.getResponse().headers.get("www-authenticate");
  if (challenge === null) return refuse(c, error.status, "invalid-request");
  const response = refuse(c, error.status, "invalid-token");
  response.headers.set("www-authenticate", challenge);
  return response;
});

async function readJob(c) {
  const { projectId, id } = c.req.param();
  const target = `/v2/agent/${encodeURIComponent(projectId)}/job/${encodeURIComponent(id)}`;
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), TIMEOUT);
  try {
    const response = await proxy(env.UPSTREAM_BASE_URL + target, {
      method: "GET",
      headers: { accept: "application/json", authorization: KEY },
      redirect: "manual",
      signal: controller.signal,
    });
    if (!response.ok) {
      const { status, kind, more } = await readFailure(response);
      return refuse(c, status, kind, more);
    }
    const isJson = isJsonType(response.headers.get("content-type"));
    const body = isJson ? await readText(response, MAX_JOB) : undefined;
    if (body === undefined || !JOB.safeParse(JSON.parse(body)).success) {
      return refuse(c, 502, "upstream-invalid");
    }
    for (const name of FORWARDED) {
      const value = response.headers.get(name);
      if (value !== null) c.header(name, value);
    }
    return c.body(body, response.status);
  } catch {
    const isTimeout = controller.signal.aborted;
    return refuse(c, isTimeout ? 504 : 502, isTimeout ? "upstream-timeout" : "upstream-invalid");
  } finally {
    clearTimeout(timer);
  }
}

export default app;
