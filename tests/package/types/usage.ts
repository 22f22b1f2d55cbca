/** Uses of the package that must compile, and uses that must not. This file is never run. */
import {
  type AgentJob,
  ApiError,
  type ApiPromise,
  type ArchiveStatus,
  AuthenticationError,
  type BuiltRequest,
  type CreatedJob,
  Client,
  type ClientOptions,
  type ContextualFeedback,
  type AutomationRun,
  DecodeError,
  type Deployment,
  type DeploymentChange,
  type DeploymentList,
  type DeploymentListChange,
  type DeploymentPage,
  DeploymentWaitTimeoutError,
  type ListedDeployment,
  type StartedPreview,
  type ExportStream,
  type GroupedViews,
  isQuillgateError,
  type JobChange,
  type JobList,
  type JobListChange,
  type JobPage,
  type JobRecord,
  type JobStatus,
  JobWaitTimeoutError,
  type ListPosition,
  type ListedJob,
  type ListPage,
  type ListProgress,
  OutcomeUnknownError,
  type OperationName,
  type PageView,
  type PageViewsPage,
  type ProblemCode,
  QuillgateError,
  RateLimitError,
  RequestTimeoutError,
  TimeoutError,
  ValidationError,
  type WithResponse,
} from "quillgate";

/** Compiles only if both are the same type. */
type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function same<A, B>(_: Same<A, B>): void {}

declare const signal: AbortSignal;
declare const maybe: string | undefined;

export async function clients(): Promise<void> {
  new Client({ baseUrl: "https://gate.example", projectId: "acme", auth: { token: "t" } });
  new Client({ baseUrl: "https://gate.example", projectId: "acme", auth: { session: true } });
  new Client({ projectId: "acme", auth: { adminKey: "mint_x", dangerouslyAllowBrowser: true } });
  // Optional properties also accept undefined under exactOptionalPropertyTypes.
  new Client({ baseUrl: maybe, projectId: maybe, auth: undefined });
  // @ts-expect-error: two credentials
  new Client({ auth: { token: "t", adminKey: "mint_x" } });
  // @ts-expect-error: no credential
  new Client({ auth: {} });
  const options: ClientOptions = {
    fetch: (url, init) => fetch(url, init),
    fetchOptions: { keepalive: true },
    defaultHeaders: { "x-own": "1" },
    onRequest: ({ method, url, headers, attempt }) => {
      same<typeof method, string>(true);
      same<typeof url, string>(true);
      same<typeof attempt, number>(true);
      headers.get("accept");
    },
    onResponse: ({ status, duration }) => same<typeof status, typeof duration>(true),
    onRetry: ({ operation, error, wait }) => {
      same<typeof operation, OperationName>(true);
      same<typeof error, QuillgateError>(true);
      same<typeof wait, number>(true);
    },
    logger: console,
    logLevel: "debug",
    timeout: 1000,
    totalTimeout: undefined,
    maxRetries: 0,
    retryWrites: false,
  };
  new Client(options).withOptions({ maxRetries: 1 }).withOptions({});

  // @ts-expect-error: unknown option
  new Client({ apiKey: "x" });
  // @ts-expect-error: a token is a string
  new Client({ auth: { token: 5 } });
  // @ts-expect-error: unknown log level
  new Client({ logLevel: "loud" });
}

export async function jobs({ agentJobs }: Client): Promise<void> {
  const job = await agentJobs.create({ prompt: "p" }, { idempotencyKey: "k", signal });
  same<typeof job, CreatedJob>(true);
  same<typeof job.id, string>(true);
  same<typeof job.status, JobStatus | null>(true);
  same<typeof job.prLink, string | null>(true);
  const { data, response, requestId } = await agentJobs.get("j").withResponse();
  same<typeof data, AgentJob>(true);
  same<typeof response, Response>(true);
  same<typeof requestId, string | null>(true);
  const carried: WithResponse<AgentJob> = { data, response, requestId };
  carried.data.source?.repository?.toUpperCase();
  await agentJobs.sendMessage("j", { prompt: "more" }, { headers: [["x-own", "1"]] });
  const done: AgentJob = await agentJobs.wait("j", {
    onUpdate: (update) => same<typeof update, AgentJob>(true),
    timeout: 1000,
    signal,
  });
  done.createdAt?.slice(0, 10);
  for await (const change of agentJobs.watch("j")) {
    same<typeof change, JobChange>(true);
    if (change.done) change.job.archivedAt;
  }
  const list: JobList = agentJobs.list({ limit: 10, cursor: maybe }, { signal });
  const page: JobPage = await list;
  same<typeof page.jobs, ListedJob[]>(true);
  same<typeof page.nextCursor, string | null>(true);
  for await (const listed of list) same<typeof listed, ListedJob>(true);
  if (page.nextCursor) (await agentJobs.list({ cursor: page.nextCursor })).jobs[0]?.id.trim();
  await agentJobs.create({ prompt: "p" }, { idempotencyKey: "k", force: true });
  await agentJobs.create({ prompt: "p" }, { webhookUrl: maybe });
  // @ts-expect-error: a message has no webhook
  agentJobs.sendMessage("j", { prompt: "p" }, { webhookUrl: "https://hooks.example" });
  agentJobs.list({ state: "failed", author: maybe, text: "guide", limit: 5 });
  const record: JobRecord = await agentJobs.record("j", { signal, timeout: 1000 });
  same<ReturnType<typeof agentJobs.record>, ApiPromise<JobRecord>>(true);
  for (const { prompt, author, sentAt } of record.messages)
    same<string | null, typeof prompt | typeof author | typeof sentAt>(true);
  for (const { at, status, prLink } of record.changes) at?.concat(status ?? "", prLink ?? "");
  for await (const change of agentJobs.watchAll({ signal, headers: { "x-own": "1" } })) {
    same<JobListChange, typeof change>(true);
    if (change.job) same<ListedJob, typeof change.job>(true);
    else if (change.reset) same<true, typeof change.reset>(true);
    else same<string, typeof change.deleted>(true);
    const { job: changed, deleted, reset } = change;
    same<true | undefined, typeof reset>(true);
    same<ListedJob | undefined, typeof changed>(true);
    same<string | undefined, typeof deleted>(true);
  }
  const promise: Promise<AgentJob> = agentJobs.get("j");
  await promise.catch(() => null).finally(() => {});

  // An open union lists known names and accepts any string.
  const status: JobStatus = "paused-by-somebody";
  if (job.status === "completed" || job.status === status) return;

  // @ts-expect-error: the cursor is null after the last page
  agentJobs.list({ cursor: page.nextCursor });
  // @ts-expect-error: unknown state
  agentJobs.list({ state: "queued" });
  // @ts-expect-error: watchAll() has no timeout
  agentJobs.watchAll({ timeout: 1000 });
  // @ts-expect-error: the prompt is required
  agentJobs.create({});
  // @ts-expect-error: a prompt is a string
  agentJobs.create({ prompt: 5 });
  // @ts-expect-error: unknown parameter
  agentJobs.create({ prompt: "p", priority: 1 });
  // @ts-expect-error: an id is a string
  agentJobs.get(5);
  // @ts-expect-error: reads have no idempotency key
  agentJobs.get("j", { idempotencyKey: "k" });
  // @ts-expect-error: unknown property of a result
  (await agentJobs.get("j").withResponse()).data.nothing = 1;
  // @ts-expect-error: wait() has no maxRetries
  agentJobs.wait("j", { maxRetries: 1 });
}

export async function deployments({ automations, deployments, previews }: Client): Promise<void> {
  const { statusId } = await deployments.create({ idempotencyKey: "k", webhookUrl: maybe });
  const preview: StartedPreview = await previews.create({ branch: "b" }, { signal });
  const deployment: Deployment = await deployments.get(preview.statusId);
  same<typeof deployment.logs, string[] | null>(true);
  // The id of a deployment may be null, as that of a job.
  const done = await deployments.wait(deployment._id, {
    onUpdate: (update) => same<typeof update, Deployment>(true),
    timeout: 1000,
  });
  same<typeof done, Deployment>(true);
  for await (const change of deployments.watch(statusId, { signal })) {
    same<typeof change, DeploymentChange>(true);
  }
  for await (const change of deployments.watchAll({ after: 1 })) {
    same<typeof change, DeploymentListChange>(true);
    if (change.deployment) same<ListedDeployment, typeof change.deployment>(true);
    else if (change.reset) same<true, typeof change.reset>(true);
    else same<string, typeof change.deleted>(true);
  }
  const list: DeploymentList = deployments.list({ limit: 10 });
  const page: DeploymentPage = await list;
  same<typeof page.deployments, ListedDeployment[]>(true);
  same<ReturnType<typeof deployments.deleteRecord>, ApiPromise<void>>(true);
  const run: AutomationRun = await automations.run("w", { idempotencyKey: "k", force: true });
  run.instanceId?.trim();

  // @ts-expect-error: the branch is required
  previews.create();
  // @ts-expect-error: unknown parameter
  previews.create({ branch: "b", ref: "main" });
  // @ts-expect-error: a run of an automation has no webhook
  automations.run("w", { webhookUrl: "https://hooks.example" });
  // @ts-expect-error: wait() has no maxRetries
  deployments.wait("s", { maxRetries: 1 });
  // @ts-expect-error: a list of deployments has no filter by state
  deployments.list({ state: "failure" });
}

export async function lists({ analytics }: Client): Promise<void> {
  const page = await analytics.views({ dateFrom: "2024-01-01", limit: 10, offset: undefined });
  same<typeof page, PageViewsPage>(true);
  same<typeof page.views, PageView[]>(true);
  same<typeof page.nextPosition, ListPosition<"analytics.views"> | null>(true);
  const next: ListPage<"analytics.views"> | null = await page.nextPage();
  next?.totals?.total?.toFixed();
  for await (const view of analytics.views()) same<typeof view, PageView>(true);
  // @ts-expect-error: a page is not iterable, only its rows are
  for (const view of page) view;
  // @ts-expect-error: a page is not iterable, only its list is
  for await (const view of page) view;
  for await (const each of analytics.views().pages()) same<typeof each, ListPage<"analytics.views">>(true);
  const rows = await analytics.views({ dateTo: maybe }).all({
    maxRows: 10,
    onProgress: (progress) => {
      same<typeof progress, ListProgress<"analytics.views">>(true);
      same<typeof progress.requestsLeftThisHour, number | null>(true);
    },
  });
  same<typeof rows, PageView[]>(true);
  if (page.nextPosition) await analytics.views({ resumeFrom: page.nextPosition }, { signal });

  const stream = analytics.views().export({ format: "csv", wait: 1000, signal, resumeFrom: undefined });
  same<typeof stream, ExportStream<"analytics.views">>(true);
  const bytes: ReadableStream<Uint8Array> = stream;
  new Response(bytes);
  const decoded: ReadableStream<string> = stream.pipeThrough(new TextDecoderStream());
  const zipped = stream.pipeThrough(new CompressionStream("gzip"));
  same<typeof decoded.locked, typeof zipped.locked>(true);
  const { value: chunk } = await stream.getReader().read();
  if (chunk) new Blob([chunk]);
  const { nextPosition } = stream;
  same<typeof nextPosition, ListPosition<"analytics.views"> | null | undefined>(true);
  if (nextPosition) analytics.views().export({ format: "ndjson", resumeFrom: nextPosition });

  // @ts-expect-error: the position is null after the last chunk
  analytics.views().export({ format: "ndjson", resumeFrom: stream.nextPosition });
  // @ts-expect-error: the format is required
  analytics.views().export();
  // @ts-expect-error: unknown format
  analytics.views().export({ format: "xlsx" });
  // @ts-expect-error: the cursor is null after the last page
  analytics.views({ resumeFrom: page.nextPosition });
  // @ts-expect-error: a limit is a number
  analytics.views({ limit: "10" });
  // @ts-expect-error: unknown parameter
  analytics.views({ from: "2024-01-01" });
  // @ts-expect-error: a page is not an array
  page.map(() => {});
}

export async function reports({ analytics }: Client): Promise<void> {
  const page = await analytics.searches({ dateFrom: maybe, cursor: maybe }, { signal });
  same<typeof page, ListPage<"analytics.searches">>(true);
  for (const entry of await analytics.feedback({ source: "contextual" }).all()) {
    if (entry.source === "contextual") same<typeof entry, ContextualFeedback>(true);
    // @ts-expect-error: `helpful` needs a check of the source
    entry.helpful;
  }
  const days = { dateFrom: "2024-01-01", dateTo: "2024-02-01" };
  for await (const group of analytics.dailyViews(days)) same<typeof group, GroupedViews>(true);
  same<ReturnType<typeof analytics.archiveStatus>, ApiPromise<ArchiveStatus>>(true);
  same<ReturnType<Client["agentJobs"]["deleteRecord"]>, ApiPromise<void>>(true);

  // @ts-expect-error: dateFrom is required
  analytics.dailyViews({ dateTo: "2024-02-01" });
  // @ts-expect-error: unknown status
  analytics.feedback({ status: "pendng" });
  // @ts-expect-error: a list by cursor has no offset
  analytics.searches({ offset: 10 });
  // @ts-expect-error: a list by offset has no string cursor
  analytics.visitors({ cursor: "c" });
  // @ts-expect-error: feedbackByPage() is not a list
  for await (const row of analytics.feedbackByPage()) row;
}

export function errors(error: unknown): string {
  if (error instanceof RateLimitError) return `again in ${error.retryAfter ?? 60} s`;
  if (error instanceof OutcomeUnknownError) return error.problem?.type ?? "";
  if (error instanceof AuthenticationError) return String(error.status);
  if (error instanceof ApiError) {
    same<typeof error.status, number>(true);
    same<typeof error.requestId, string | null>(true);
    same<typeof error.headers, Headers>(true);
    same<typeof error.code, ProblemCode | (string & {}) | null>(true);
    if (error.code === "/problems/quota-exceeded") return "try again later";
    if (error.code === "https://errors.example/other") return "from another server";
    const known: ProblemCode[] = ["/problems/upstream-error", "/problems/outcome-unknown"];
    // @ts-expect-error: unknown problem of a gateway
    known.push("/problems/quota-exceded");
    return error.problem?.detail ?? error.code ?? error.details.join();
  }
  if (error instanceof ValidationError) return error.rule === "page-size" ? error.field : error.rule;
  if (error instanceof DecodeError) return error.path;
  if (error instanceof JobWaitTimeoutError) return error.job?.id ?? "";
  if (error instanceof DeploymentWaitTimeoutError) return error.deployment?._id ?? "";
  if (error instanceof RequestTimeoutError || error instanceof TimeoutError)
    return String(error.timeout);
  // @ts-expect-error: unknown rule
  if (error instanceof ValidationError && error.rule === "rule-of-thumb") return "";
  return isQuillgateError(error) ? error.name : "";
}

export async function requests(client: Client): Promise<void> {
  const request = await client.buildRequest("agentJobs.create", { prompt: "p" });
  same<typeof request, BuiltRequest>(true);
  same<typeof request.headers, Record<string, string>>(true);
  same<typeof request.body, string | null>(true);
  client.buildRequest("analytics.views", { limit: 10 });
  client.buildRequest("analytics.conversation", { threadId: "01J9Z3K4M5N6P7Q8R9S0T1V2W3" });
  // @ts-expect-error: unknown operation
  client.buildRequest("agentJobs.delete", { id: "j" });
  // @ts-expect-error: parameters of another operation
  client.buildRequest("agentJobs.get", { prompt: "p" });
}
