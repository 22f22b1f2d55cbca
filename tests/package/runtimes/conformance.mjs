/** Checks that must pass in every runtime, so they use only the language and common globals. */

export async function conform(quillgate, settings) {
  const results = [];
  for (const [name, check] of Object.entries(CHECKS)) {
    try {
      await check(quillgate, settings);
      results.push({ name });
    } catch (error) {
      results.push({ name, problem: `${error?.name}: ${error?.message}\n${error?.stack}` });
    }
  }
  return results;
}

const RANGE = { dateFrom: "2024-03-01", dateTo: "2024-03-08" };

const CHECKS = {
  async "a job can be created, read, sent a message and waited for"({ Client }, { client }) {
    const { agentJobs } = new Client(client);
    const job = await agentJobs.create({ prompt: "Say “é” 😀" });
    ok(typeof job.id === "string" && job.id !== "");
    same((await agentJobs.get(job.id)).id, job.id);
    const seen = [];
    const end = await agentJobs.wait(job.id, { onUpdate: ({ status }) => seen.push(status) });
    same(end.status, "completed");
    same(seen.at(-1), "completed");
    ok(end.prLink.startsWith("https://"));
    same((await agentJobs.sendMessage(job.id, { prompt: "And more" })).id, job.id);
  },

  async "watch() marks the last change as done"({ Client }, { client }) {
    const { agentJobs } = new Client(client);
    const { id } = await agentJobs.create({ prompt: "[fail]" });
    const changes = [];
    for await (const change of agentJobs.watch(id)) changes.push(change);
    same(changes.at(-1).job.status, "failed");
    same(changes.at(-1).done, true);
  },

  async "a page is plain data with nextPage()"({ Client }, { client, pages }) {
    const page = await new Client(client).analytics.views({ ...RANGE, limit: 10 });
    same(page.views.length, 10);
    same(page.hasMore, true);
    same(page.offset, 0);
    ok(Number.isInteger(page.totals.total) && page.totals.total >= pages);
    same(Object.keys(page.views[0]).join(), "path,human,ai,total");
    const next = await page.nextPage();
    same(next.offset, 10);
    ok(next.views[0].path !== page.views[0].path);
    const properties = Object.keys(JSON.parse(JSON.stringify(page))).sort();
    same(properties.join(), "hasMore,nextPosition,offset,totals,views");
  },

  async "a list yields every row once, in order"({ Client }, { client, pages }) {
    const paths = new Set();
    let last = Number.POSITIVE_INFINITY;
    for await (const view of new Client(client).analytics.views(RANGE)) {
      paths.add(view.path);
      ok(view.total <= last, "rows are in order");
      last = view.total;
    }
    same(paths.size, pages);
  },

  async "all() reports progress, and export() resumes to the same bytes"(
    { Client },
    { client, pages },
  ) {
    const progress = [];
    const onProgress = ({ rows }) => progress.push(rows);
    const { analytics } = new Client(client);
    const rows = await analytics.views(RANGE).all({ onProgress });
    same(rows.length, pages);
    same(progress.length, Math.ceil(pages / 250));
    same(progress.at(-1), pages);

    const lines = await new Response(analytics.views(RANGE).export({ format: "ndjson" })).text();
    const parsed = lines
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line));
    same(parsed.map(({ path }) => path).join(), rows.map(({ path }) => path).join());

    const broken = analytics.views({ ...RANGE, limit: 100 }).export({ format: "csv" });
    const reader = broken.getReader();
    const { value } = await reader.read();
    await reader.cancel();
    const { nextPosition: resumeFrom } = broken;
    const rest = analytics.views(RANGE).export({ format: "csv", resumeFrom });
    const csv = new TextDecoder().decode(value) + (await new Response(rest).text());
    const text = await new Response(analytics.views(RANGE).export({ format: "csv" })).text();
    const whole = text.replace(/^\uFEFF/, ""); // Old versions of workerd keep it.
    ok(whole.startsWith("path,human,ai,total\r\n") && rows.length > 100);
    same(csv, whole);
    same(rest.nextPosition, null);
  },

  async "visitors are a list by offset"({ Client }, { client, pages }) {
    const { analytics } = new Client(client);
    const [{ views }, third, rows] = await Promise.all([
      analytics.views({ ...RANGE, limit: 1 }),
      analytics.visitors({ ...RANGE, page: 3, limit: 50 }),
      analytics.visitors(RANGE).all(),
    ]);
    same(Object.keys(views[0]).join(), "path,human,ai,total");
    same(third.offset, 100);
    same(third.visitors.length, 50);
    same(rows.length, pages);
    same(rows[100].path, third.visitors[0].path);
    ok(rows.every(({ human, ai, total }) => total >= human && total <= human + ai));
  },

  async "a list by cursor yields every row and resumes from a stored position"(
    { Client },
    { client },
  ) {
    const { analytics } = new Client(client);
    const read = async ([name, property]) => {
      const first = await analytics[name]({ ...RANGE, limit: 40 });
      const next = await first.nextPage();
      const resumeFrom = JSON.parse(JSON.stringify(first.nextPosition));
      const resumed = await analytics[name]({ resumeFrom }).all({ maxRows: next[property].length });
      const rows = [];
      for await (const row of analytics[name](RANGE)) rows.push(row);
      const pages = [...first[property], ...next[property]];
      ok(rows.length >= pages.length && pages.length > 40, name);
      same(JSON.stringify(rows.slice(0, pages.length)), JSON.stringify(pages));
      same(JSON.stringify(resumed), JSON.stringify(next[property]));
    };
    const lists = { feedback: "feedback", searches: "searches", conversations: "conversations" };
    await Promise.all(Object.entries(lists).map(read));
  },

  async "reports that are not lists can be read"({ Client }, { client }) {
    const { analytics } = new Client(client);
    const [{ feedback, hasMore }, { conversations }, { web, api, other, total }] =
      await Promise.all([
        analytics.feedbackByPage({ ...RANGE, limit: 5 }),
        analytics.conversations({ ...RANGE, limit: 1 }),
        analytics.callerStats(RANGE),
      ]);
    same(feedback.length, 5);
    same(hasMore, true);
    ok(feedback[0].total >= feedback[4].total && feedback[4].path.startsWith("/"));
    same(web + api + other, total);
    ok(total > 0);
    const [turn] = conversations;
    const { messages } = await analytics.conversation(turn.id);
    ok(messages.some(({ role, content }) => role === "user" && content === turn.query));
  },

  async "invalid input rejects with its field and rule"({ Client, ValidationError }, { client }) {
    const { agentJobs, analytics } = new Client(client);
    const calls = {
      prompt: () => agentJobs.create({ prompt: "" }),
      id: () => agentJobs.get(".."),
      limit: () => analytics.views({ limit: 251 }),
      source: () => analytics.feedback({ source: "email" }),
      threadId: () => analytics.conversation("x"),
      from: () => analytics.searches({ from: "2024-01-01" }),
      timeOut: () => analytics.callerStats({}, { timeOut: 5 }),
    };
    for (const [field, call] of Object.entries(calls)) {
      const error = await rejectionOf(call);
      ok(error instanceof ValidationError && error instanceof Error);
      same(error.name, "ValidationError");
      same(error.field, field);
    }
  },

  async "an error response has its class, status and request id"(
    { ApiError, Client, isQuillgateError, NotFoundError },
    { client },
  ) {
    const error = await rejectionOf(() => new Client(client).agentJobs.get("no-such-job"));
    ok(error instanceof NotFoundError && error instanceof ApiError);
    ok(isQuillgateError(error) && !isQuillgateError(new Error("x")));
    same(error.name, "NotFoundError");
    same(error.status, 404);
    ok(typeof error.requestId === "string" && error.headers instanceof Headers);
  },

  async "an invalid credential rejects with AuthenticationError"(
    { AuthenticationError, Client },
    { stranger },
  ) {
    const error = await rejectionOf(() => new Client(stranger).agentJobs.get("j"));
    ok(error instanceof AuthenticationError);
    same(error.status, 401);
  },

  async "an abort rejects with the signal's reason"({ Client }, { client }) {
    const { agentJobs } = new Client(client);
    const reason = { my: "reason" };
    const aborted = () => agentJobs.get("j", { signal: AbortSignal.abort(reason) });
    same(await rejectionOf(aborted), reason);
    const controller = new AbortController();
    const fetch = () => {
      queueMicrotask(() => controller.abort(reason));
      return new Promise(() => {});
    };
    const unresponsive = new Client({ ...client, fetch }).agentJobs;
    const { signal } = controller;
    same(await rejectionOf(() => unresponsive.get("j", { signal })), reason);
  },

  async "a timeout ends a call without a response"({ Client, TimeoutError }, { client }) {
    const fetch = () => new Promise(() => {});
    const { agentJobs } = new Client({ ...client, fetch, timeout: 20, maxRetries: 0 });
    const error = await rejectionOf(() => agentJobs.get("j"));
    ok(error instanceof TimeoutError);
    same(error.timeout, 20);
  },

  async "a custom fetch receives the request, and withResponse() returns its Response"(
    { Client },
    { client },
  ) {
    const sent = [];
    const fetch = (url, init) => {
      sent.push({ url, ...init });
      return Promise.resolve(new Response('{"id":"j"}', { headers: { "x-request-id": "r-1" } }));
    };
    const headers = { "x-own": "1" };
    const { agentJobs } = new Client({ ...client, fetch, defaultHeaders: headers });
    const { data, response, requestId } = await agentJobs.get("j").withResponse();
    same(data.id, "j");
    ok(response instanceof Response);
    same(requestId, "r-1");
    same(sent[0].headers["x-own"], "1");
    ok(sent[0].headers.authorization.startsWith("Bearer "));
    ok(sent[0].url.endsWith(`/v2/agent/${client.projectId}/job/j`));
  },

  async "a malformed result names the path in the JSON"({ Client, DecodeError }, { client }) {
    const body = '{"totals":{},"views":[{"path":"/","human":-1}],"hasMore":false}';
    const fetch = () => Promise.resolve(new Response(body));
    const error = await rejectionOf(() => new Client({ ...client, fetch }).analytics.views());
    ok(error instanceof DecodeError);
    same(error.path, "views[0].human");
  },

  async "a broken connection has the runtime's error as its cause"(
    { Client, ConnectionError },
    { client },
  ) {
    const cause = new TypeError("broken");
    const fetch = () => Promise.reject(cause);
    const { agentJobs } = new Client({ ...client, fetch, maxRetries: 0 });
    const error = await rejectionOf(() => agentJobs.create({ prompt: "p" }));
    ok(error instanceof ConnectionError);
    same(error.cause, cause);
  },

  async "buildRequest() returns a request"({ Client }, { client }) {
    const request = await new Client(client).buildRequest("agentJobs.create", { prompt: "p" });
    same(request.method, "POST");
    same(request.body, '{"prompt":"p"}');
    same(request.headers["content-type"], "application/json");
  },

  async "hooks, logs and errors show no credential"({ Client }, { client, stranger }) {
    const seen = [];
    const hooks = {
      onRequest: (request) => seen.push(request.url, ...[...request.headers].flat()),
      onResponse: (response) => seen.push(response.url, ...[...response.headers].flat()),
      logLevel: "debug",
      logger: logger((...line) => seen.push(...line.map(String))),
    };
    const logging = new Client({ ...stranger, ...hooks });
    const error = await rejectionOf(() => logging.agentJobs.get("j"));
    seen.push(JSON.stringify(logging), String(logging), String(error), error.stack);
    seen.push(JSON.stringify(error), JSON.stringify(new Client(client)));
    ok(seen.length > 8, "no hook or logger was called");
    const credentials = [client.auth, stranger.auth];
    for (const secret of credentials.flatMap(({ token, adminKey }) => [token, adminKey])) {
      if (secret) ok(!seen.join("\n").includes(secret), "the output contains a credential");
    }
  },
};

function logger(write) {
  return { error: write, warn: write, info: write, debug: write };
}

function ok(condition, message = "a condition is false") {
  if (!condition) throw new Error(message);
}

function same(actual, expected) {
  if (!Object.is(actual, expected)) throw new Error(`expected ${expected}, got ${actual}`);
}

async function rejectionOf(call) {
  let result;
  try {
    result = await call();
  } catch (reason) {
    return reason;
  }
  throw new Error(`expected a rejection, got ${JSON.stringify(result)}`);
}
