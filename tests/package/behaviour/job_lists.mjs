/** How a client reads the list of jobs, which only a gateway has. */
import assert from "node:assert/strict";
import { inspect } from "node:util";
import { against, describe, GATEWAY, inTurn, quillgate, rejectionOf, when } from "./fixtures.mjs";

describe("Lists of jobs", () => {
  const JOBS = Array.from({ length: 5 }, (_, at) => ({ id: `j${at}`, status: "active" }));

  /** Returns a page of `limit` jobs (default: 2). A cursor is the number of jobs before a page. */
  function jobPages({ path }) {
    const query = new URL(path, "http://x").searchParams;
    const from = Number(query.get("cursor") ?? 0);
    const to = from + Number(query.get("limit") ?? 2);
    return { json: { jobs: JOBS.slice(from, to), nextCursor: to < JOBS.length ? `${to}` : null } };
  }

  when("a list of jobs is awaited", "it resolves to one page with the cursor of the next", () =>
    against(
      jobPages,
      async ({ agentJobs }, { requests }) => {
        const page = await agentJobs.list({ limit: 3 });
        assert.equal(page.nextCursor, "3");
        assert.equal(page.jobs.length, 3);
        assert.deepEqual(page.jobs[2], {
          id: "j2",
          status: "active",
          prompt: null,
          createdBy: null,
          createdAt: null,
          prLink: null,
          checkedAt: null,
        });
        const { data, response } = await agentJobs.list({ cursor: "3" }).withResponse();
        assert.deepEqual([data.jobs[0].id, data.nextCursor, response.status], ["j3", null, 200]);
        assert.deepEqual(
          requests.map(({ path }) => path),
          ["/v2/agent/acme/jobs?limit=3", "/v2/agent/acme/jobs?cursor=3"],
        );
      },
      GATEWAY,
    ),
  );

  when(
    "a list of jobs is iterated",
    "every job arrives once; a page is requested when its first job is needed",
    () =>
      against(
        jobPages,
        async ({ agentJobs }, { requests }) => {
          const ids = [];
          for await (const { id } of agentJobs.list({ limit: 2 })) {
            ids.push(id);
            assert.equal(requests.length, Math.ceil(ids.length / 2));
          }
          assert.deepEqual(ids, ["j0", "j1", "j2", "j3", "j4"]);
          for await (const _ of agentJobs.list({ limit: 1, cursor: "1" })) break;
          assert.equal(requests.length, 4);
          assert.equal(requests[3].path, "/v2/agent/acme/jobs?limit=1&cursor=1");
        },
        GATEWAY,
      ),
  );

  when(
    "a page of jobs fails",
    "the jobs before it arrive; the stack of the error starts at the list",
    () =>
      against(
        inTurn({ json: { jobs: JOBS, nextCursor: "5" } }, { status: 404 }),
        async ({ agentJobs }) => {
          const ids = [];
          const error = await rejectionOf(async () => {
            for await (const { id } of agentJobs.list()) ids.push(id);
          });
          assert.ok(error instanceof quillgate.NotFoundError);
          assert.equal(ids.length, 5);
          assert.match(error.stack.split("\n")[1], /job_lists\.mjs/);
        },
        GATEWAY,
      ),
  );

  when(
    "the parameters of a list of jobs are invalid",
    "it rejects with ValidationError; nothing is sent",
    () =>
      against(
        jobPages,
        async ({ agentJobs }, { requests }) => {
          for (const [params, field, rule] of [
            [{ limit: 0 }, "limit", "page-size"],
            [{ limit: 101 }, "limit", "page-size"],
            [{ cursor: "" }, "cursor", "not-empty"],
            [{ cursor: null }, "cursor", "text"],
          ]) {
            const error = await rejectionOf(agentJobs.list(params));
            assert.ok(error instanceof quillgate.ValidationError, inspect(error));
            assert.deepEqual([error.field, error.rule], [field, rule]);
          }
          assert.equal(requests.length, 0);
        },
        GATEWAY,
      ),
  );

  when(
    "a list of jobs is aborted during a page",
    "it rejects immediately with the signal's reason and closes the connection",
    () =>
      against(
        (received, number) => (number === 0 ? jobPages(received) : { stall: "head" }),
        async ({ agentJobs }, server) => {
          const controller = new AbortController();
          const iterate = async () => {
            for await (const _ of agentJobs.list({ limit: 2 }, { signal: controller.signal }));
          };
          const abort = server.arrived(2).then(() => controller.abort("enough"));
          assert.equal(await rejectionOf(iterate), "enough");
          await abort;
          assert.equal(await server.requests[1].ended, false);
        },
        GATEWAY,
      ),
  );
});
