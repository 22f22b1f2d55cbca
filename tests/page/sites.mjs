/** A site is a gateway in workerd that serves the page, with the simulator as its upstream. */
import assert from "node:assert/strict";
import { canaryKey } from "../harness/canary.mjs";
import { startGateway } from "../harness/gateway.mjs";
import { startIssuer } from "../harness/issuer.mjs";
import { newSecret } from "../harness/token.mjs";
import { startUpstream } from "../harness/upstream.mjs";

export const EMPTY_PROJECT = "empty-docs";
/** The gateway's limit on new jobs, per project and hour. */
export const CREATE_LIMIT = 30;

/** The limit on requests for reports per hour, which all tests of a site share. */
const ANALYTICS_LIMIT = 9999;
/** Each test gets a fresh project, because the gateway stores everything by project. */
const PROJECTS = Array.from({ length: 300 }, (_, number) => `docs-${number}`);
const ARCHIVED_PROJECTS = Array.from({ length: 40 }, (_, number) => `archived-${number}`);
const ISSUER_PROJECT = "issuer-docs";
/** Jobs stay active until a test ends them, so that no test depends on a timer. */
const JOB_DURATION_MS = 24 * 3600 * 1000;

/** A site of 4,000 pages. A report loads only the first ones automatically. */
export const LARGE_SITE = {};
/** A site that the page loads completely, with counts that differ from day to day. */
export const SMALL_SITE = { upstream: { pages: 300, varyingDays: true } };
/** Like `SMALL_SITE`, with nearly 1,000 rows, the maximum in the document. */
export const TALL_SITE = { upstream: { pages: 900, varyingDays: true } };

/** The sites of one test worker. Tests with the same options share a site. */
export class SitePool {
  #sites = new Map();

  /** Returns a site. `upstream` are options of the simulator, and `vars` of the gateway. */
  async get(options) {
    const key = JSON.stringify(options);
    if (!this.#sites.has(key)) this.#sites.set(key, await startSite(options));
    return this.#sites.get(key);
  }

  async stop() {
    await Promise.all([...this.#sites.values()].map((site) => site.stop()));
  }
}

async function startSite(options) {
  const unused = { plain: [...PROJECTS], archived: [...ARCHIVED_PROJECTS] };
  const takeProject = (kind) => {
    const project = unused[kind].shift();
    assert.ok(project, `no ${kind} project is left: add some to sites.mjs`);
    return project;
  };
  const started = [];
  const stop = async () => {
    for (const program of started.reverse()) await program.stop();
  };
  const start = async (starting) => {
    const program = await starting;
    started.push(program);
    return program;
  };
  const key = canaryKey();
  const secret = newSecret();
  try {
    const issuer = options.issuer ? await start(startIssuer()) : undefined;
    const upstream = await start(
      startUpstream({
        key,
        pages: 4000,
        jobDurationMs: JOB_DURATION_MS,
        projects: [...PROJECTS, ...ARCHIVED_PROJECTS, ISSUER_PROJECT, EMPTY_PROJECT],
        analyticsLimit: ANALYTICS_LIMIT,
        ...options.upstream,
      }),
    );
    const gateway = await start(
      startGateway({
        upstreamUrl: upstream.url,
        adminKey: key,
        secret,
        archive: true,
        vars: {
          ANALYTICS_LIMIT_PER_HOUR: String(ANALYTICS_LIMIT),
          ARCHIVE_PROJECTS: ARCHIVED_PROJECTS.join(","),
          CREATE_LIMIT_PER_HOUR: String(CREATE_LIMIT),
          JOB_POLL_SECONDS: "1",
          JOB_POLLS_PER_HOUR: "100000",
          ...(issuer && issuerVariables(issuer)),
          ...options.vars,
        },
      }),
    );
    return { key, secret, issuer, upstream, gateway, url: gateway.url, takeProject, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function issuerVariables(issuer) {
  const rules = [{ claims: { sub: "carol" }, projects: [ISSUER_PROJECT], scope: "analytics:read" }];
  return {
    TRUSTED_ISSUERS: JSON.stringify([
      { issuer: issuer.url, audience: "quillgate", jwks: issuer.jwksUrl, rules },
    ]),
    SIGN_IN_ISSUERS: JSON.stringify([
      {
        name: "Acme SSO",
        issuer: issuer.url,
        clientId: "quillgate-page",
        authorizationEndpoint: issuer.authorizeUrl,
        tokenEndpoint: issuer.tokenUrl,
        scope: "openid",
      },
    ]),
  };
}
