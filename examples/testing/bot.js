/** A bot that documents releases, and reports pages without readers. */
import { OutcomeUnknownError, RateLimitError } from "quillgate";
import { unwrap, WebhookVerificationError } from "quillgate/webhooks";

/** Starts a job for a release, and returns a comment about its pull request. */
export async function documentRelease(client, version) {
  try {
    // Use the same key for every attempt: within a day, the gateway starts one job per key.
    const options = { idempotencyKey: `release-${version}` };
    const job = await client.agentJobs.create({ prompt: `Document release ${version}` }, options);
    const { status, prLink } = await client.agentJobs.wait(job.id);
    if (status === "failed") return `The agent failed to document ${version}.`;
    return prLink ? `Please review ${prLink}.` : `Release ${version} needs no documentation.`;
  } catch (error) {
    if (error instanceof RateLimitError) return `Try again in ${error.retryAfter} seconds.`;
    if (error instanceof OutcomeUnknownError) return "Check the dashboard before you try again.";
    throw error;
  }
}

/** Receives the gateway's webhooks, and posts a message for each pull request. */
export async function receiveWebhook(request, { key, post }) {
  try {
    const { type, data } = await unwrap(await request.text(), request.headers, key);
    if (type === "agent_job.completed" && data.prLink) await post(`Please review ${data.prLink}.`);
    return new Response(null, { status: 204 });
  } catch (error) {
    // If `key` is invalid, throw: the server responds with a 5xx, and the gateway tries again.
    if (!(error instanceof WebhookVerificationError) || error.rule === "key") throw error;
    return new Response(null, { status: 400 });
  }
}

/** Returns the paths of the pages that no person has viewed since `dateFrom`. */
export async function findUnreadPages(client, dateFrom) {
  const unread = [];
  for await (const { path, human } of client.analytics.views({ dateFrom })) {
    if (human === 0) unread.push(path);
  }
  return unread;
}
