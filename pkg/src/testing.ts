/**
 * A fake gateway for your tests. It is a `fetch` function without a network, with jobs and deployments
 * that end by the clock, lists with pages, reports with your data, and failures on demand.
 *
 * @module
 */

import {
  type FakeDeployment,
  type FakeDeploymentChange,
  FakeDeployments,
} from "./fake_deployments.js";
import { type FakeJob, type FakeJobChange, FakeJobs } from "./fake_jobs.js";
import {
  type FakeParams,
  type FakeReports,
  replyWithReport,
  sliceByCursor,
} from "./fake_reports.js";
import {
  jsonReply,
  problemReply,
  Refusal,
  type Reply,
  toResponse,
  upstreamNotFound,
} from "./fake_response.js";
import { checkParams, matchRoute, type RoutedRequest } from "./fake_routes.js";
import { FakeStreams } from "./fake_streams.js";
import {
  type FailOptions,
  type FakeFailure,
  FakeFailures,
  FakeKeys,
  failureReply,
  neverRespond,
} from "./fake_writes.js";
import type { Route } from "./generated/routes.js";
import { isLive } from "./live.js";
import type { FetchInit } from "./options.js";
import type { AutomationRun, Operations } from "./types.js";
import { computeHmac, decodeKey, formatSignature, signedContent } from "./webhook_signature.js";
import type { WebhookEventType } from "./webhooks.js";

export type { FakeDeployment, FakeDeploymentChange } from "./fake_deployments.js";
export type { FakeJob, FakeJobChange } from "./fake_jobs.js";
export type { FakeParams, FakeReports, Supplied, SuppliedRows } from "./fake_reports.js";
export type { ProblemName } from "./fake_response.js";
export type { FailOptions, FakeFailure } from "./fake_writes.js";

/** Options of {@link createFakeGateway}. */
export interface FakeGatewayOptions {
  /** The project of the fake. @default "acme" */
  projectId?: string | undefined;
  /** The access token that the fake accepts. @default "fake-token" */
  token?: string | undefined;
  /** The author of the jobs and deployments. @default "fake-author" */
  author?: string | undefined;
  /**
   * Time until a job finishes, in milliseconds. With `Infinity`, jobs finish only when you call
   * {@link FakeGateway.updateJob}.
   * @default 60000
   */
  jobDuration?: number | undefined;
  /**
   * Returns the result of a job that finishes.
   * @default status `completed`, with a pull request
   */
  finish?: ((job: FakeJob) => FakeJobChange) | undefined;
  /**
   * Time until a deployment or a preview ends, in milliseconds. With `Infinity`, they end only when you
   * call {@link FakeGateway.updateDeployment}.
   * @default 90000
   */
  deploymentDuration?: number | undefined;
  /**
   * Returns the result of a deployment that ends.
   * @default status `success`
   */
  finishDeployment?: ((deployment: FakeDeployment) => FakeDeploymentChange) | undefined;
  /** The data of the reports. */
  reports?: FakeReports | undefined;
  /**
   * Returns the current time in milliseconds since 1970.
   * @default Date.now, which fake timers control
   */
  now?: (() => number) | undefined;
}

/** A request that the fake received. */
export interface FakeRequest {
  /** The operation, such as `agentJobs.get` or `agentJobs.events`; `null` if no route matches. */
  operation: keyof Operations | (string & {}) | null;
  method: string;
  url: string;
  headers: Headers;
  /** The parameters from the path, the query and the body. */
  params: Record<string, unknown>;
  /** The status of the response; `null` until the fake responds, or if it never does. */
  status: number | null;
}

/**
 * Creates a fake gateway.
 *
 * @example
 * ```ts
 * import { Client } from "quillgate";
 * import { createFakeGateway } from "quillgate/testing";
 *
 * const gateway = createFakeGateway({ reports: { views: [{ path: "/start", total: 12 }] } });
 * const client = new Client(gateway.clientOptions);
 *
 * const job = await client.agentJobs.create({ prompt: "Document the endpoint" });
 * gateway.advance(60_000);
 * const { prLink } = await client.agentJobs.wait(job.id);
 * ```
 */
export function createFakeGateway(options: FakeGatewayOptions = {}): FakeGateway {
  return new FakeGateway(options);
}

/** A fake gateway. {@link createFakeGateway} creates it. */
export class FakeGateway {
  /** The options of a client that uses this fake. */
  readonly clientOptions: {
    baseUrl: string;
    projectId: string;
    auth: { token: string };
    fetch: (url: string, init: FetchInit) => Promise<Response>;
  };
  /** The data of the reports. You can change it at any time. */
  reports: FakeReports;
  /** The requests that the fake received, in order. */
  readonly requests: FakeRequest[] = [];
  /** The key of {@link FakeGateway.createWebhook}, for `unwrap`. */
  readonly webhookKey = `whsec_${btoa("the fake gateway's webhook key..")}`;
  readonly #author: string;
  readonly #now: () => number;
  readonly #jobs: FakeJobs;
  readonly #deployments: FakeDeployments;
  readonly #streams: FakeStreams;
  readonly #failures = new FakeFailures();
  readonly #keys = new FakeKeys();
  #advanced = 0;
  #webhooks = 0;
  #runs = 0;

  /** @internal */
  constructor(options: FakeGatewayOptions) {
    const { projectId = "acme", token = "fake-token", now = Date.now } = options;
    const fetch = (url: string, init: FetchInit) => this.fetch(url, init);
    this.clientOptions = { baseUrl: "https://gateway.test", projectId, auth: { token }, fetch };
    this.reports = options.reports ?? {};
    this.#author = options.author ?? "fake-author";
    this.#now = () => now() + this.#advanced;
    this.#jobs = new FakeJobs({
      now: this.#now,
      duration: options.jobDuration ?? 60_000,
      finish: (job) => ({ status: "completed", ...(options.finish ?? complete)(job) }),
    });
    this.#deployments = new FakeDeployments({
      now: this.#now,
      duration: options.deploymentDuration ?? 90_000,
      finish: (deployment) => ({ ...SUCCESS, ...options.finishDeployment?.(deployment) }),
    });
    this.#streams = new FakeStreams([this.#jobs, this.#deployments], this.#now);
  }

  /** All jobs, in the order in which they were added. */
  get jobs(): FakeJob[] {
    return this.#jobs.all;
  }

  /**
   * Adds a job. `createdAt` defaults to now. The time until the job finishes always starts now.
   *
   * @throws {TypeError} if there is already a job with this id
   */
  addJob(job: { prompt: string } & Partial<FakeJob>): FakeJob {
    return this.#jobs.create({ createdBy: this.#author, ...job });
  }

  /**
   * Changes a job, for example its `status`. The job then no longer finishes on its own, unless it
   * receives a follow-up.
   *
   * @throws {TypeError} if there is no such job
   */
  updateJob(id: string, change: FakeJobChange): FakeJob {
    return this.#jobs.update(id, change);
  }

  /** All deployments and previews, in the order in which they were added. */
  get deployments(): FakeDeployment[] {
    return this.#deployments.all;
  }

  /**
   * Adds a deployment, or a preview if it has a `branch`. The time until it ends always starts now.
   *
   * @throws {TypeError} if there is already a deployment with this `_id`
   */
  addDeployment(deployment: Partial<FakeDeployment> = {}): FakeDeployment {
    const { projectId } = this.clientOptions;
    return this.#deployments.create({ createdBy: this.#author, projectId, ...deployment });
  }

  /**
   * Changes a deployment, for example its `status`. It then no longer ends on its own.
   *
   * @throws {TypeError} if there is no such deployment
   */
  updateDeployment(id: string, change: FakeDeploymentChange): FakeDeployment {
    return this.#deployments.update(id, change);
  }

  /**
   * Moves the clock of the fake forward and sends the changes to open streams. With fake timers, you
   * don't need it.
   */
  advance(milliseconds: number): void {
    this.#advanced += milliseconds;
    this.#settle();
  }

  /**
   * Makes the next request fail, or the next `times` requests.
   *
   * @example
   * ```ts
   * gateway.fail("quota-exceeded", { operation: "agentJobs.create", retryAfter: 30 });
   * ```
   */
  fail(failure: FakeFailure, options: FailOptions = {}): void {
    this.#failures.add(failure, options);
  }

  #settle(): void {
    this.#jobs.settle();
    this.#deployments.settle();
  }

  /**
   * Returns the signed webhook for the end of a job or a deployment, for the handler under test.
   * `unwrap` verifies it with {@link FakeGateway.webhookKey}.
   *
   * @param type the type of the event; by default, the type for the status
   * @throws {TypeError} if there is no such job or deployment, or if it has not ended and you omit `type`
   */
  async createWebhook(id: string, type?: WebhookEventType): Promise<Request> {
    this.#settle();
    const deployment = this.#deployments.find(id);
    const records = deployment ? this.#deployments : this.#jobs;
    const found = records.find(id);
    if (found === undefined) throw new TypeError(`there is no job or deployment ${id}`);
    const isFinished = records.isFinished(id);
    if (type === undefined && !isFinished) {
      throw new TypeError(`the ${records.name} ${id} is ${found.status}, so it has no webhook yet`);
    }
    const webhookUrl = found.webhookUrl ?? "https://receiver.test/";
    const body = JSON.stringify({
      type: type ?? (deployment ? "deployment.ended" : `agent_job.${found.status}`),
      timestamp: new Date(this.#now()).toISOString(),
      project: this.clientOptions.projectId,
      webhookUrl,
      ...(deployment && isFinished && { isLive: isLive(deployment) }),
      data: records.get(id),
    });
    const headers = await this.#sign(body);
    return new Request(webhookUrl, { method: "POST", headers, body });
  }

  async #sign(body: string): Promise<Record<string, string>> {
    const id = `msg_${String(++this.#webhooks).padStart(32, "0")}`;
    const timestamp = String(Math.floor(this.#now() / 1000));
    const content = signedContent(id, timestamp, new TextEncoder().encode(body));
    const hmac = await computeHmac(decodeKey(this.webhookKey) as Uint8Array<ArrayBuffer>, content);
    return {
      "content-type": "application/json",
      "webhook-id": id,
      "webhook-timestamp": timestamp,
      "webhook-signature": formatSignature(hmac),
    };
  }

  /** Responds to a request like `fetch`. It ignores the base URL. */
  async fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const request = new Request(input, init);
    request.signal.throwIfAborted();
    const { method, url, headers } = request;
    const entry: FakeRequest = { operation: null, method, url, headers, params: {}, status: null };
    this.requests.push(entry);
    const requestId = `request-${this.requests.length}`;
    const response = await this.#respond(request, entry, requestId).catch((error: unknown) => {
      if (error instanceof Refusal) return toResponse(error.reply, requestId);
      throw error;
    });
    entry.status = response.status;
    return response;
  }

  async #respond(request: Request, entry: FakeRequest, requestId: string): Promise<Response> {
    const { method } = request;
    const text = method === "POST" ? await request.text() : "";
    const body = parseObject(text);
    const routed = matchRoute(method, new URL(request.url), body);
    const { route } = routed;
    entry.operation = route.operation;
    entry.params = routed.given;
    this.#authorize(routed, request);
    this.#settle();
    const hasBody = route.parameters.some(({ place }) => place === "body");
    const perform = () => {
      if (hasBody && body === undefined) throw new Refusal(malformedBody());
      return this.#perform(route, checkParams(routed), request);
    };
    const planned = this.#failures.take(route.operation);
    const failure = planned?.failure;
    if (failure === "connection-error") throw new TypeError("the connection broke");
    if (failure === "no-response") return await neverRespond(request);
    if (failure === undefined && isStream(route)) {
      return this.#openStream(routed, request, requestId);
    }
    const attempt = failure ? () => failureReply(failure, route, planned ?? {}) : perform;
    const reply =
      method === "POST" ? this.#keys.run(request, `${request.url}\n${text}`, attempt) : attempt();
    return toResponse(reply, requestId);
  }

  #authorize({ route, projectId }: RoutedRequest, { headers }: Request): void {
    const authorization = headers.get("authorization");
    const realm = 'Bearer realm="quillgate"';
    if (!authorization) {
      const challenge = { "www-authenticate": realm };
      throw new Refusal(problemReply("missing-token", "no access token was sent", {}, challenge));
    }
    if (authorization !== `Bearer ${this.clientOptions.auth.token}`) {
      const challenge = { "www-authenticate": `${realm}, error="invalid_token"` };
      throw new Refusal(problemReply("invalid-token", "the access token is wrong", {}, challenge));
    }
    const own = this.clientOptions.projectId;
    // The path of a deployment's status has no project.
    if (route.path.includes("{projectId}") && projectId !== own) {
      const detail = `the access token is not for this project, only for ${own}`;
      throw new Refusal(problemReply("project-not-allowed", detail));
    }
  }

  #openStream(routed: RoutedRequest, request: Request, requestId: string): Response {
    const isOfJobs = routed.route.operation.startsWith("agentJobs.");
    const records = isOfJobs ? this.#jobs : this.#deployments;
    const value = checkParams(routed)[records.idName];
    const id = value === undefined ? undefined : String(value);
    if (id !== undefined && !records.find(id)) {
      throw new Refusal(isOfJobs ? jobNotFound() : deploymentNotFound());
    }
    return this.#streams.open(records, id, request, requestId);
  }

  #perform(route: Route, params: FakeParams, request: Request): Reply {
    const jobs = this.#jobs;
    const id = String(params.id);
    const prompt = String(params.prompt);
    switch (route.operation) {
      case "agentJobs.create": {
        const webhookUrl = request.headers.get("webhook-url");
        const job = jobs.create({ prompt, createdBy: this.#author, webhookUrl });
        return jsonReply(jobs.get(job.id), 201);
      }
      case "agentJobs.get":
        return replyOr(jobs.get(id), jobNotFound);
      case "agentJobs.sendMessage":
        return replyOr(jobs.message(id, prompt, this.#author), jobNotFound);
      case "agentJobs.list": {
        const { page, nextCursor } = sliceByCursor(jobs.list(params), params);
        return jsonReply({ jobs: page, nextCursor, revision: jobs.revision });
      }
      case "agentJobs.record":
        return replyOr(jobs.record(id), jobNotRecorded);
      case "agentJobs.deleteRecord":
        return jobs.deleteRecord(id) ? noContent() : jobNotRecorded();
      case "automations.run":
        return jsonReply(this.#runAutomation(String(params.workflowSchemaId)), 202);
      case "deployments.create":
      case "previews.create":
      case "deployments.get":
      case "deployments.list":
      case "deployments.deleteRecord":
        return this.#performDeployment(route, params, request);
      default:
        return replyWithReport(route.operation, params, this.reports);
    }
  }

  #performDeployment({ operation }: Route, params: FakeParams, request: Request): Reply {
    const deployments = this.#deployments;
    const id = String(params.statusId);
    switch (operation) {
      case "deployments.get":
        return replyOr(deployments.get(id), deploymentNotFound);
      case "deployments.list": {
        const { page, nextCursor } = sliceByCursor(deployments.list(), params);
        return jsonReply({ deployments: page, nextCursor, revision: deployments.revision });
      }
      case "deployments.deleteRecord":
        return deployments.deleteRecord(id) ? noContent() : deploymentNotFound();
      default: {
        const branch = operation === "previews.create" ? String(params.branch) : null;
        const webhookUrl = request.headers.get("webhook-url");
        const { _id, previewUrl } = this.addDeployment({ branch, webhookUrl });
        return jsonReply({ statusId: _id, ...(previewUrl !== null && { previewUrl }) }, 202);
      }
    }
  }

  #runAutomation(schemaId: string): AutomationRun {
    const number = ++this.#runs;
    return { schemaId, instanceId: `run-${number}`, jobId: `background-${number}` };
  }
}

/** The result of a deployment without {@link FakeGatewayOptions.finishDeployment}. */
const SUCCESS: FakeDeploymentChange = {
  status: "success",
  summary: "Successfully updated deployment",
  logs: ["Started the deployment", "Successfully updated deployment"],
};

function isStream({ path }: Route): boolean {
  return path.endsWith("/events");
}

function replyOr(body: object | undefined, otherwise: () => Reply): Reply {
  return body === undefined ? otherwise() : jsonReply(body);
}

function jobNotFound(): Reply {
  return upstreamNotFound("Job not found");
}

function deploymentNotFound(): Reply {
  const detail = "the gateway has no record of this deployment in a project of the access token";
  return problemReply("deployment-not-found", detail);
}

function noContent(): Reply {
  return { status: 204, headers: {}, body: undefined };
}

function jobNotRecorded(): Reply {
  return problemReply("job-not-recorded", "the gateway has no record of this job");
}

function malformedBody(): Reply {
  const detail = "the body must be a JSON object";
  const errors = [{ field: "body", rule: "json-object", detail }];
  return problemReply("invalid-request", detail, { errors });
}

/** Parses a JSON object. Returns `undefined` for anything else. */
function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** Completes a job with a pull request. */
function complete({ id }: FakeJob): FakeJobChange {
  return {
    status: "completed",
    prLink: `https://github.com/acme/docs/pull/${id.replace(/\D/g, "")}`,
  };
}
