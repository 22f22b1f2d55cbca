import assert from "node:assert/strict";

export const DEPLOYMENT_SCOPES = "jobs:create jobs:read deployments:create deployments:read";

/** A site whose deployments change only when a test changes them, and whose limits are high. */
export const DEPLOYMENT_SITE = {
  upstream: {
    deploymentDurationMs: 24 * 3600 * 1000,
    deploymentLimit: 100_000,
    previewLimit: 100_000,
  },
  vars: { DEPLOYMENT_LIMIT_PER_10_SECONDS: "100000", PREVIEW_LIMIT_PER_MINUTE: "100000" },
};

export const PUBLISHED = "Successfully updated deployment";
export const ENDS = {
  live: { status: "success", summary: "Your changes are now live!", logs: [PUBLISHED] },
  failed: {
    status: "failure",
    summary: "Unable to find docs.json or mint.json",
    logs: ["Unable to find docs.json or mint.json"],
  },
  warning: {
    status: "failure",
    summary: "Failed to revalidate domain: docs.acme.example",
    logs: [PUBLISHED, "Failed to revalidate domain: docs.acme.example"],
  },
};

/** Starts a deployment through the gateway's API as another person; a preview with a branch. */
export async function deployElsewhere({ site, project, token }, { branch, sub = "ada" } = {}) {
  const kind = branch === undefined ? "update" : "preview";
  const response = await fetch(`${site.url}/v1/project/${kind}/${project}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token({ sub, scope: DEPLOYMENT_SCOPES })}`,
      ...(branch !== undefined && { "content-type": "application/json" }),
    },
    body: branch === undefined ? undefined : JSON.stringify({ branch }),
  });
  const text = await response.text();
  assert.equal(response.status, 202, text);
  return JSON.parse(text);
}

/** Ends a deployment at the platform, and waits until the gateway knows its end. */
export async function endDeployment({ site, project, token }, id, end) {
  await site.upstream.setDeployment(id, end);
  const headers = { authorization: `Bearer ${token({ scope: DEPLOYMENT_SCOPES })}` };
  let row;
  do {
    const response = await fetch(`${site.url}/v1/project/${project}/deployments`, { headers });
    const { deployments } = await response.json();
    row = deployments.find(({ statusId }) => statusId === id);
  } while (row.status !== end.status);
}

export async function deleteRecord({ site, project, token }, id) {
  const response = await fetch(`${site.url}/v1/project/${project}/deployments/${id}`, {
    method: "DELETE",
    headers: { authorization: `Bearer ${token({ scope: "gateway:operate" })}` },
  });
  assert.equal(response.status, 204);
}

/** Opens the list, or a deployment, in a session with these claims. */
export async function openDeployments(visitor, { id, ...claims } = {}) {
  const { site, page, project, token, startSession } = visitor;
  await startSession(token({ scope: DEPLOYMENT_SCOPES, ...claims }));
  const query = id === undefined ? "" : `&deployment=${id}`;
  await page.goto(`${site.url}/?route=deployments&project=${project}${query}`);
}

export const rowsOf = (page) =>
  page.getByRole("region", { name: "Deployments of this project" }).getByRole("listitem");

export async function startedAt({ site, project }) {
  const started = await site.upstream.deployments();
  return started.filter(({ projectId }) => projectId === project);
}
