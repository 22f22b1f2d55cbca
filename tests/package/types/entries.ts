/** Uses `quillgate/testing`, `quillgate/values` and `quillgate/webhooks`. This file is compiled but never run. */
import { type AgentJob, Client, type Deployment } from "quillgate";
import { createFakeGateway, type FakeGateway, type FakeRequest } from "quillgate/testing";
import { isLive, type PullRequest, parseInstant, readPullRequest } from "quillgate/values";
import { unwrap, type WebhookEvent, WebhookVerificationError } from "quillgate/webhooks";

export async function receive(request: Request, key: string): Promise<string | null> {
  const event: WebhookEvent = await unwrap(await request.text(), request.headers, key);
  if (event.type === "deployment.ended") return event.isLive ? event.data.summary : null;
  return event.type === "agent_job.completed" ? event.data.prLink : event.id;
}

interface NodeRequest {
  headers: { [name: string]: string | string[] | undefined; host?: string };
}

export async function receiveInNode(request: NodeRequest, body: Uint8Array): Promise<string> {
  try {
    const keys = ["whsec_new", "whsec_old"] as const;
    const options = { tolerance: 60_000, now: () => 0 };
    return (await unwrap(body, request.headers, keys, options)).webhookUrl;
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    return error.rule === "signature" ? "forged" : error.message;
  }
}

// @ts-expect-error a parsed body has lost the signed bytes
unwrap({}, new Headers(), "whsec_key");

const gateway: FakeGateway = createFakeGateway({
  jobDuration: Number.POSITIVE_INFINITY,
  finishDeployment: ({ branch }) => ({ status: branch === null ? "success" : "failure" }),
  finish: ({ prompt }) => ({ status: prompt === "" ? "failed" : "completed" }),
  reports: { views: [{ path: "/start" }], searches: ({ limit }) => [{ hits: Number(limit) }] },
});
export const client = new Client({ ...gateway.clientOptions, maxRetries: 0 });
export const requests: readonly FakeRequest[] = gateway.requests;
gateway.fail("quota-exceeded", { operation: "agentJobs.create", retryAfter: 30 });
gateway.reports.views = undefined;
gateway.updateDeployment(gateway.addDeployment({ branch: "b" })._id, { logs: ["Failed"] });

// @ts-expect-error not a problem of the gateway
gateway.fail("no-such-problem");
// @ts-expect-error not an operation
gateway.fail("no-response", { operation: "agentJobs.nope" });

declare const finished: AgentJob;
export const request: PullRequest | null = readPullRequest(finished.prLink);
export const created: number | null = parseInstant(finished.createdAt);
declare const ended: Deployment;
export const live: boolean = isLive(ended);
