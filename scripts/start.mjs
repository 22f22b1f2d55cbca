/**
 * `npm start`: the page, the gateway and a simulated platform on this machine, with new secrets each
 * time. Changes of the sources are built and served while it runs.
 */
import { once } from "node:events";
import { createServer } from "node:net";
import { canaryKey } from "../tests/harness/canary.mjs";
import { startUpstream } from "../tests/harness/upstream.mjs";
import { BUILD_NEEDS, build, START_MAIN, START_PARTS } from "./build.mjs";
import { endWithNpm, runMain, StepError, signalsEndWith } from "./child.mjs";
import { startDemoSignIn } from "./demo_sign_in.mjs";
import { digestSources, rebuildOnChange } from "./rebuild.mjs";
import { RestartableGateway } from "./restartable_gateway.mjs";
import { setup } from "./setup.mjs";
import { accessClaims, mintToken, newSecret, SCOPES } from "./token.mjs";

const PROJECT = "demo-docs";
const TOKEN_DAYS = 7;
const JOB_DURATION_MS = 8000;

await runMain(async () => {
  signalsEndWith(0);
  endWithNpm();
  const gatewayPort = portFrom("PORT", 8787);
  const upstreamPort = portFrom("UPSTREAM_PORT", 8788);
  await expectFree("PORT", gatewayPort);
  await expectFree("UPSTREAM_PORT", upstreamPort);

  const context = await setup(BUILD_NEEDS);
  const sources = await digestSources();
  await build(context, START_PARTS);

  const adminKey = canaryKey();
  const secret = newSecret();
  console.log("start: the simulated platform …");
  const upstream = await startUpstream({
    key: adminKey,
    port: upstreamPort,
    projects: [PROJECT],
    jobDurationMs: JOB_DURATION_MS,
    env: context.env,
  });
  console.log("start: the gateway …");
  const gateway = new RestartableGateway({
    upstreamUrl: upstream.url,
    adminKey,
    secret,
    allowedOrigins: process.env.ALLOWED_ORIGINS ?? "",
    port: gatewayPort,
    main: START_MAIN,
    archive: true,
    // The simulator does not count reads of jobs as creations.
    vars: { ARCHIVE_PROJECTS: PROJECT, JOB_POLLS_PER_HOUR: "3600" },
    env: context.env,
  });
  await gateway.start();
  // The cron trigger archives yesterday, so that the page has a day to show.
  await gateway.runCron();

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
      failWhenEnded("the simulated platform", upstream),
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
  const rule = "─".repeat(72);
  return `
${rule}
Quillgate is running. Open this address to sign in to the demo:

  ${demo}

It works once; after that, the next one is printed here. The page, and what
programs need to call the gateway:

  Page      ${page}/
  Project   ${PROJECT}
  Token     ${token}

The token allows every operation for ${TOKEN_DAYS} days or until the next start. Treat it
like a password: never put it into an address.

The platform is simulated at ${upstream}; no real key is used.
Changes of the Worker, the core and the page are built and served.
Ctrl-C stops everything and deletes its jobs and secrets.
${rule}
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
  const server = createServer().listen(port, "127.0.0.1");
  const error = await once(server, "listening").then(
    () => undefined,
    (reason) => reason,
  );
  if (error) {
    const why = error.code === "EADDRINUSE" ? "is in use" : `cannot be used (${error.code})`;
    throw new StepError(`port ${port} ${why}; choose another with the variable ${name}`);
  }
  server.close();
  await once(server, "close");
}
