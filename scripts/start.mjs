/**
 * `npm start [-- --verbose]`: runs the page, the gateway and a simulated Mintlify on this machine,
 * with new secrets each time. Meanwhile, it builds and serves changes of the sources. `--verbose`
 * shows the output of every build.
 */
import { parseArgs } from "node:util";
import { canaryKey } from "../tests/harness/canary.mjs";
import { isFree } from "../tests/harness/process.mjs";
import { accessClaims, mintToken, newSecret, SCOPES } from "../tests/harness/token.mjs";
import { buildUpstream, startUpstream } from "../tests/harness/upstream.mjs";
import { BUILD_NEEDS, build, START_MAIN, START_PAGE, START_PARTS } from "./build.mjs";
import { endWithNpm, runMain, StepError, signalsEndWith } from "./child.mjs";
import { DEMO_SITE, fillDemo } from "./demo_data.mjs";
import { startDemoSignIn } from "./demo_sign_in.mjs";
import { digestSources, rebuildOnChange } from "./rebuild.mjs";
import { RestartableGateway } from "./restartable_gateway.mjs";
import { secondsSince, setup } from "./setup.mjs";

const PROJECT = "demo-docs";
const TOKEN_DAYS = 7;
const JOB_DURATION_MS = 8000;
/** Analytics requests per hour: enough to fill the archive and to explore for a day. */
const ANALYTICS_LIMIT = 5000;

await runMain(async () => {
  signalsEndWith(0);
  endWithNpm();
  const gatewayPort = portFrom("PORT", 8787);
  const upstreamPort = portFrom("UPSTREAM_PORT", 8788);
  await expectFree("PORT", gatewayPort);
  await expectFree("UPSTREAM_PORT", upstreamPort);

  const { values } = parseArgs({ options: { verbose: { type: "boolean" } } });
  const context = await setup(BUILD_NEEDS, values);
  const sources = await digestSources();
  await build(context, { ...START_PARTS, simulator: buildUpstream });

  const adminKey = canaryKey();
  const secret = newSecret();
  const started = performance.now();
  const upstream = await startUpstream({
    key: adminKey,
    port: upstreamPort,
    projects: [PROJECT],
    jobDurationMs: JOB_DURATION_MS,
    analyticsLimit: ANALYTICS_LIMIT,
    ...DEMO_SITE,
    env: context.env,
  });
  const gateway = new RestartableGateway({
    upstreamUrl: upstream.url,
    adminKey,
    secret,
    allowedOrigins: process.env.ALLOWED_ORIGINS ?? "",
    port: gatewayPort,
    main: START_MAIN,
    assets: START_PAGE,
    archive: true,
    vars: {
      ANALYTICS_LIMIT_PER_HOUR: String(ANALYTICS_LIMIT),
      ARCHIVE_PROJECTS: PROJECT,
      JOB_POLL_SECONDS: "2",
      // The simulator does not count reads of jobs as creations.
      JOB_POLLS_PER_HOUR: "3600",
    },
    env: context.env,
  });
  await gateway.start();
  console.log(`start: the gateway and a simulated Mintlify (${secondsSince(started)})`);
  const filling = performance.now();
  await fillDemo({ project: PROJECT, secret, gateway, upstream });
  console.log(`start: jobs, and page views of 90 days (${secondsSince(filling)})`);

  const token = demoToken(secret);
  const signIn = await startDemoSignIn({
    pageUrl: gateway.url,
    token,
    onUse: (next) => console.log(`start: signed in; to sign in again, open ${next}`),
  });
  const addresses = { demo: signIn.address(), page: gateway.url, upstream: upstream.url };
  console.log(welcome({ ...addresses, token }));
  try {
    await Promise.race([
      failWhenEnded("the simulated Mintlify", upstream),
      gateway.failure,
      rebuildOnChange(context, gateway, sources),
    ]);
  } finally {
    await Promise.all([signIn.stop(), gateway.stop(), upstream.stop()]);
  }
});

async function failWhenEnded(name, { ended, log }) {
  throw new StepError(`${name} ${await ended}; the end of its log:\n${log().slice(-2000)}`);
}

function demoToken(secret) {
  const ttlSeconds = TOKEN_DAYS * 24 * 3600;
  const grant = { sub: "demo", projects: [PROJECT], scope: SCOPES.join(" "), ttlSeconds };
  return mintToken(accessClaims(grant), secret);
}

function welcome({ demo, page, upstream, token }) {
  return `
Quillgate is running. Open this address to sign in; it works once:

  ${demo}

Page      ${page}/
Project   ${PROJECT}
Token     ${token}
          Allows every operation for ${TOKEN_DAYS} days or until the next start. Keep it secret.
Mintlify  ${upstream}, simulated: no real key is used

Changes of the Worker, the core and the page are built and served.
Ctrl-C stops everything and deletes its jobs and secrets.
`;
}

function portFrom(name, fallback) {
  const text = process.env[name] || String(fallback);
  const port = Number(text);
  if (!/^\d+$/.test(text) || port < 1 || port > 65535) {
    throw new StepError(`${name} must be a port number from 1 to 65535, not "${text}"`);
  }
  return port;
}

async function expectFree(name, port) {
  const why = await isFree(port).then(
    (free) => !free && "is in use",
    ({ code }) => `cannot be used (${code})`,
  );
  if (why) throw new StepError(`port ${port} ${why}; choose another with the variable ${name}`);
}
