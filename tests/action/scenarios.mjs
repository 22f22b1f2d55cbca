/**
 * What a step does, as its workflow and its readers see it. The same against the gateway in workerd and
 * against a quick stand-in for it.
 */
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { startGithub } from "./github.mjs";
import { runStep, startStep } from "./runner.mjs";

export const PROJECT = "demo-docs";
export const REPOSITORY_ID = "2002";
const PULL = "https://github.com/acme/docs/pull/12";
const PROMPT = "Document release 1.2";
/** The payload of a pull request's event. */
const pullRequestEvent = (number, { headId = 2002 } = {}) => ({
  number,
  pull_request: {
    number,
    head: { repo: headId === null ? null : { id: headId } },
    base: { repo: { id: 2002 } },
  },
});

/**
 * @typedef {object} Place a gateway
 * @property {string} url
 * @property {string} accessToken one of the gateway's own, good for {@link PROJECT}
 * @property {() => Promise<void>} reset forgets all jobs and faults
 * @property {() => Promise<{ id: string, prompt: string, status: string }[]>} jobs
 * @property {(id: string, changes: object) => Promise<void>} setJob
 * @property {() => Promise<void>} loseCreation nobody will know what became of the next creation
 * @property {() => Promise<{ arrived: Promise<void>, release: () => unknown }>} holdCreation
 *   carries the next creation out, and answers it when it is released
 * @property {() => Promise<void>} stop
 *
 * @param {string} name of the suite
 * @param {(github: object) => Promise<Place>} startPlace
 */
export function describeAction(name, startPlace) {
  let github;
  let place;
  /** The id of the run: of each test another, since the gateway remembers idempotency keys. */
  let run = 12345678900;

  before(async () => {
    github = await startGithub();
    place = await startPlace(github);
  });
  after(async () => {
    await place?.stop();
    await github?.stop();
  });
  beforeEach(async () => {
    run += 1;
    github.reset();
    await place.reset();
  });

  /** A step of an ordinary run, with an identity of its own. */
  const step = ({ with: inputs, env, ...rest } = {}) => ({
    with: { gateway: place.url, project: PROJECT, prompt: PROMPT, ...inputs },
    env: {
      ...github.identityVariables(),
      GITHUB_API_URL: github.url,
      GITHUB_RUN_ID: String(run),
      ...env,
    },
    githubToken: github.githubToken,
    ...rest,
  });
  /** Starts a step, and gives it and its job once that is there. */
  const startJob = async (options) => {
    const running = startStep(step(options));
    await running.says(/The job \S+ is active/);
    const [job] = (await place.jobs()).slice(-1);
    return { running, job };
  };
  /** Runs a step whose job ends like this. */
  const runJob = async (end, options) => {
    const { running, job } = await startJob(options);
    await place.setJob(job.id, end);
    return { result: await running.ended, job };
  };
  const completed = { status: "completed", prLink: PULL };
  const errors = ({ annotations }) => annotations.filter(({ level }) => level === "error");
  const only = (list) => {
    assert.equal(list.length, 1, JSON.stringify(list));
    return list[0];
  };
  /** Nothing that is secret is in what others can read. */
  const assertDiscreet = (result) => {
    const secrets = [github.requestToken, github.githubToken, place.accessToken, ...github.tokens];
    const shown = [result.log, result.summary, JSON.stringify(result.outputs)].join("\n");
    for (const { body } of github.comments) assert.ok(!secrets.some((one) => body.includes(one)));
    for (const secret of secrets) assert.ok(!shown.includes(secret), "no secret is shown");
    // The runner hides only what it has been told to, so each token is masked first.
    const lines = result.raw.split("\n").filter((line) => !line.startsWith("::add-mask::"));
    for (const secret of secrets) assert.ok(!lines.join("\n").includes(secret), "nor written");
  };

  describe(`the action ${name}`, () => {
    test("starts a job as the workflow itself, waits for it and links its pull request", async () => {
      const { result, job } = await runJob(completed);
      assert.equal(result.code, 0, result.raw);
      assert.equal(job.prompt, PROMPT);
      assert.deepEqual(result.outputs, {
        "job-id": job.id,
        status: "completed",
        "pull-request": PULL,
      });
      assert.match(result.summary, /^### The job is completed$/m);
      assert.match(
        result.summary,
        /\[acme\/docs#12\]\(<https:\/\/github\.com\/acme\/docs\/pull\/12>\)/,
      );
      assert.ok(result.summary.includes(`\`${job.id}\``) && result.summary.includes(PROMPT));
      assert.match(result.log, new RegExp(`The job ${job.id} is completed`));
      const notice = only(result.annotations);
      assert.deepEqual([notice.level, notice.message], ["notice", `Pull request: ${PULL}`]);
      assert.ok(github.tokens.length > 0, "it asked for an identity");
      for (const token of github.tokens) assert.ok(result.masks.includes(token));
      assert.doesNotMatch(result.raw, /Warning/, "Node.js has nothing to say");
      assertDiscreet(result);
    });

    test("has the job's id as output while it waits", async () => {
      const { running, job } = await startJob();
      assert.match(running.written("GITHUB_OUTPUT"), new RegExp(`^job-id<<.*\n${job.id}\n`));
      await place.setJob(job.id, completed);
      await running.ended;
    });

    test("says so when no file was changed", async () => {
      const { result } = await runJob({ status: "completed", prLink: null });
      assert.equal(result.code, 0);
      assert.equal(result.outputs["pull-request"], "");
      assert.match(result.summary, /none: no file was changed/);
    });

    test("fails when the job fails", async () => {
      const { result, job } = await runJob({ status: "failed" });
      assert.equal(result.code, 1);
      assert.equal(result.outputs.status, "failed");
      const { title, message } = only(errors(result));
      assert.equal(title, "The job failed");
      assert.ok(message.includes(job.id));
      assert.match(message, /Re-run the workflow's job to start another/);
      assert.match(result.summary, /^### The job failed$/m);
      assert.match(result.summary, /Re-run the workflow's job/);
      assert.match(result.summary, /\| Pull request \| none \|/);
    });

    test("says that a failed job is an earlier attempt's, and how to start another", async () => {
      const options = { with: { "idempotency-key": `docs-${run}` } };
      const { result: first } = await runJob({ status: "failed" }, options);
      assert.match(only(errors(first)).message, /to start another, give another idempotency-key/);
      const again = await runStep(step({ ...options, env: { GITHUB_RUN_ATTEMPT: "2" } }));
      assert.equal(again.code, 1);
      assert.equal(again.outputs["job-id"], first.outputs["job-id"]);
      const { message } = only(errors(again));
      assert.match(message, /from an earlier attempt .*; to start another job, give another idem/);
    });

    test("does not wait when told so", async () => {
      const result = await runStep(step({ with: { wait: false } }));
      const [job] = await place.jobs();
      assert.equal(result.code, 0);
      assert.deepEqual([result.outputs["job-id"], result.outputs.status], [job.id, "active"]);
      assert.match(result.summary, /^### The job has been started$/m);
    });

    test("gives up when the time is up, and says how to go on", async () => {
      const { running, job } = await startJob({ with: { timeout: "1s" } });
      const result = await running.ended;
      assert.equal(result.code, 1);
      assert.deepEqual([result.outputs["job-id"], result.outputs.status], [job.id, "active"]);
      assert.match(only(errors(result)).title, /has not ended within 1s, and goes on/);
      for (const text of [result.log, result.summary]) {
        assert.ok(text.includes(`npx quillgate job watch ${job.id}`), text);
        assert.ok(text.includes(`QUILLGATE_BASE_URL=${place.url}`), text);
      }
      assert.equal((await place.jobs())[0].status, "active");
      assertDiscreet(result);
    });

    for (const [signal, code] of [
      ["SIGINT", 130],
      ["SIGTERM", 143],
    ]) {
      test(`stops waiting on ${signal}, and says how to go on`, async () => {
        const { running, job } = await startJob();
        running.cancel(signal);
        const result = await running.ended;
        assert.equal(result.code, code, result.raw);
        assert.deepEqual([result.outputs["job-id"], result.outputs.status], [job.id, "active"]);
        assert.match(result.summary, /^### The step was cancelled; the job goes on$/m);
        assert.ok(result.summary.includes(`npx quillgate job watch ${job.id}`));
        assert.ok(result.log.includes(`npx quillgate job watch ${job.id}`));
        assert.equal((await place.jobs())[0].status, "active", "the job itself goes on");
      });
    }

    test("says how to go on though GitHub does not answer, and ends at once when asked again", async () => {
      github.hangs = true;
      const options = { with: { comment: true }, event: pullRequestEvent(12) };
      const { running, job } = await startJob(options);
      running.cancel("SIGINT");
      await running.says(/npx quillgate job watch/);
      running.cancel("SIGTERM");
      const result = await running.ended;
      assert.equal(result.code, 130, result.raw);
      assert.ok(result.summary.includes(`npx quillgate job watch ${job.id}`));
    });

    test("names the job that was being created when it was cancelled", async () => {
      const held = await place.holdCreation();
      const running = startStep(step());
      await held.arrived;
      running.cancel();
      await held.release();
      const result = await running.ended;
      const job = only(await place.jobs());
      assert.equal(result.code, 130, result.raw);
      assert.equal(result.outputs["job-id"], job.id);
      assert.ok(result.summary.includes(`npx quillgate job watch ${job.id}`));
    });

    test("fails when no rule knows the workflow, and shows what a rule would need", async () => {
      github.claims = { repository_id: "6666", repository: "mallory/docs" };
      const result = await runStep(step());
      assert.equal(result.code, 1);
      assert.match(only(errors(result)).message, /does not allow this identity/);
      assert.match(only(result.groups), /TRUSTED_ISSUERS/);
      assert.match(result.log, /^repository_id: "6666"$/m);
      assert.match(result.log, /^job_workflow_ref: "mallory\/docs\//m);
      assert.deepEqual(await place.jobs(), []);
      assert.equal(result.outputs["job-id"], undefined);
      assertDiscreet(result);
    });

    test("fails when the gateway does not accept its token", async () => {
      const result = await runStep(step({ with: { audience: "another" } }));
      assert.equal(result.code, 1);
      assert.match(only(errors(result)).message, /does not accept this identity/);
      assert.match(result.log, /^aud: "another"$/m);
    });

    test("says why a pull request from a fork has no identity", async () => {
      for (const headId of [7007, null]) {
        const event = pullRequestEvent(12, { headId });
        const identity = { ACTIONS_ID_TOKEN_REQUEST_URL: "", ACTIONS_ID_TOKEN_REQUEST_TOKEN: "" };
        const env = { ...identity, GITHUB_EVENT_NAME: "pull_request" };
        const result = await runStep(step({ env, event }));
        assert.equal(result.code, 1);
        assert.match(only(errors(result)).message, /no identity to .* from a fork/);
        assert.match(result.summary, /from a fork/);
      }
      assert.deepEqual(await place.jobs(), []);
    });

    test("says which permission a job without identity lacks", async () => {
      const env = { ACTIONS_ID_TOKEN_REQUEST_URL: "", ACTIONS_ID_TOKEN_REQUEST_TOKEN: "" };
      const result = await runStep(step({ env, event: pullRequestEvent(12) }));
      assert.equal(result.code, 1);
      assert.match(only(errors(result)).message, /permissions: id-token: write/);
    });

    test("takes an access token instead, and then asks for no identity", async () => {
      const options = { with: { token: place.accessToken } };
      const { result } = await runJob(completed, options);
      assert.equal(result.code, 0, result.raw);
      assert.deepEqual(github.tokens, []);
      assert.ok(result.masks.includes(place.accessToken));
      assertDiscreet(result);
    });

    test("starts one job however often a step is delivered, and another when it is run again", async () => {
      const unwaited = { wait: false };
      const first = await runStep(step({ with: unwaited }));
      const again = await runStep(step({ with: unwaited }));
      assert.equal(again.outputs["job-id"], first.outputs["job-id"]);
      assert.equal((await place.jobs()).length, 1);

      const env = { GITHUB_RUN_ATTEMPT: "2" };
      const rerun = await runStep(step({ with: unwaited, env }));
      assert.notEqual(rerun.outputs["job-id"], first.outputs["job-id"]);
      const otherStep = await runStep(step({ with: unwaited, env: { GITHUB_ACTION: "other" } }));
      const otherJob = await runStep(step({ with: unwaited, env: { GITHUB_JOB: "other" } }));
      const leg = await runStep(step({ with: { ...unwaited, prompt: "Document release 1.3" } }));
      const results = [first, rerun, otherStep, otherJob, leg];
      assert.equal(new Set(results.map(({ outputs }) => outputs["job-id"])).size, 5);
      assert.equal((await place.jobs()).length, 5);
    });

    test("goes on with the job of an earlier attempt that had the same idempotency key", async () => {
      const inputs = { "idempotency-key": "release-1.2", timeout: "1s" };
      const first = await runStep(step({ with: inputs }));
      assert.equal(first.code, 1);
      const rerun = startStep(
        step({ with: { ...inputs, timeout: "1m" }, env: { GITHUB_RUN_ATTEMPT: "2" } }),
      );
      await rerun.says(/The job \S+ is active/);
      await place.setJob(first.outputs["job-id"], completed);
      const second = await rerun.ended;
      assert.equal(second.outputs["job-id"], first.outputs["job-id"]);
      assert.equal(second.outputs["pull-request"], PULL);
      assert.equal((await place.jobs()).length, 1);
    });

    test("says that nobody knows when a creation was lost", async () => {
      await place.loseCreation();
      const result = await runStep(step());
      assert.equal(result.code, 1);
      const { title, message } = only(errors(result));
      assert.equal(title, "It is not known whether the job was started");
      assert.match(message, /Look at the platform's dashboard first: a re-run starts another job/);
      assert.match(result.summary, /^### It is not known/);
    });

    test("says what to do with one's own key when a creation was lost", async () => {
      await place.loseCreation();
      const result = await runStep(step({ with: { "idempotency-key": `own-${run}` } }));
      assert.match(
        only(errors(result)).message,
        /to start another job, give another idempotency-key/,
      );
    });

    test("keeps one comment on the pull request, over all runs", async () => {
      const event = pullRequestEvent(12);
      const options = { with: { comment: true }, event };
      const { result, job } = await runJob(completed, options);
      assert.equal(result.code, 0, result.raw);
      const comment = only(github.comments);
      assert.equal(comment.number, 12);
      assert.deepEqual([comment.writes.length, comment.user.type], [2, "Bot"]);
      assert.match(comment.writes[0], /The job has been started/);
      assert.match(comment.writes[1], /The job is completed.*\[acme\/docs#12\]/);
      assert.ok(comment.body.includes(job.id) && comment.body.includes(`/runs/${run}/attempts/1`));
      assert.ok(!comment.body.includes(PROMPT), "a prompt could mention people");

      const rerun = { ...options, env: { GITHUB_RUN_ID: "777", GITHUB_REF: "refs/pull/12/merge" } };
      const { result: second } = await runJob({ status: "failed" }, rerun);
      assert.equal(second.code, 1);
      assert.equal(only(github.comments), comment);
      assert.match(comment.body, /The job failed/);
      assert.match(comment.body, /runs\/777\/attempts\/1/);
      assertDiscreet(second);
    });

    test("leaves a comment's link where a later run starts no job, and says why", async () => {
      const options = { with: { comment: true }, event: pullRequestEvent(12) };
      await runJob(completed, options);
      const [before] = github.comments.map(({ body }) => body);

      const env = { GITHUB_RUN_ID: "778" };
      github.claims = { repository_id: "6666" };
      const refused = await runStep(step({ ...options, env }));
      assert.equal(refused.code, 1);
      const comment = only(github.comments);
      assert.ok(comment.body.startsWith(before), comment.body);
      assert.match(
        comment.body,
        /The job was not started: the gateway does not allow .*runs\/778\//,
      );
      // Once for each run, however often it is refused.
      await runStep(step({ ...options, env: { ...env, GITHUB_RUN_ATTEMPT: "2" } }));
      assert.equal(comment.body.split("The job was not started").length, 2);

      github.claims = {};
      await runJob(
        { ...completed, prLink: `${PULL}3` },
        { ...options, env: { GITHUB_RUN_ID: "779" } },
      );
      assert.match(comment.body, /\[acme\/docs#123\]/);
      assert.ok(!comment.body.includes("not started") && !comment.body.includes(`${PULL}>`));
    });

    test("keeps the jobs of earlier requests in the comment, the last ten", async () => {
      const event = {
        issue: { number: 34, pull_request: { url: "…" } },
        comment: { body: "/docs" },
      };
      const request = (id) => ({
        ...{ with: { comment: true }, event },
        env: { GITHUB_EVENT_NAME: "issue_comment", GITHUB_RUN_ID: String(id) },
      });
      const links = async () => {
        const { body } = only(github.comments);
        return Array.from(body.matchAll(/\[acme\/docs#(\d+)\]/g), ([, number]) => number);
      };
      const prLink = (number) => `https://github.com/acme/docs/pull/${number}`;
      await runJob({ status: "completed", prLink: prLink(1) }, request(1));
      await runJob({ status: "completed", prLink: prLink(2) }, request(2));
      assert.deepEqual(await links(), ["1", "2"]);

      const { body, number, user } = github.comments[0];
      const [, second] = body.split(/(?=<!-- quillgate-job 2 )/);
      const more = Array.from({ length: 9 }, (_, at) => {
        return second
          .replace("quillgate-job 2 ", `quillgate-job 9${at} `)
          .replace("#2]", `#9${at}]`);
      });
      github.comments = [];
      github.addComment(number, [body, ...more].join("\n\n"), user);
      await runJob({ status: "completed", prLink: prLink(3) }, request(3));
      assert.equal((await links()).join(), "90,91,92,93,94,95,96,97,98,3");
    });

    test("comments on the pull request that somebody has commented on", async () => {
      const event = {
        issue: { number: 34, pull_request: { url: "…" } },
        comment: { body: "/docs" },
      };
      const env = { GITHUB_EVENT_NAME: "issue_comment" };
      const { result } = await runJob(completed, { with: { comment: true }, event, env });
      assert.equal(result.code, 0);
      assert.equal(only(github.comments).number, 34);
    });

    test("never writes over a comment of somebody else's", async () => {
      const options = { with: { comment: true }, event: pullRequestEvent(12) };
      await runJob(completed, options);
      const { body } = github.comments[0];
      github.comments = [];
      // Behind a page of others, and with the marker copied.
      for (let at = 0; at < 101; at++) github.addComment(12, `No. ${at}`, { id: 1, type: "User" });
      const copy = github.addComment(12, body, { id: 666, login: "mallory", type: "User" });
      await runJob(completed, { ...options, env: { GITHUB_RUN_ATTEMPT: "2" } });
      assert.equal(copy.writes.length, 1);
      assert.equal(github.comments.length, 103);

      const own = github.comments.at(-1);
      await runJob(completed, { ...options, env: { GITHUB_RUN_ATTEMPT: "3" } });
      assert.deepEqual([github.comments.length, own.writes.length], [103, 4]);
    });

    test("writes another comment where its own was deleted while it waited", async () => {
      const options = { with: { comment: true }, event: pullRequestEvent(12) };
      const { running, job } = await startJob(options);
      await github.untilCommented();
      github.comments = [];
      await place.setJob(job.id, completed);
      assert.equal((await running.ended).code, 0);
      assert.match(only(github.comments).body, /\[acme\/docs#12\]/);
    });

    test("comments as the person whose token it is given", async () => {
      const inputs = { comment: true, "github-token": github.personalToken };
      const options = { with: inputs, event: pullRequestEvent(12) };
      await runJob(completed, options);
      await runJob(completed, { ...options, env: { GITHUB_RUN_ATTEMPT: "2" } });
      const { user, writes } = only(github.comments);
      assert.deepEqual([user.login, writes.length], ["alice", 4]);
    });

    test("succeeds though the comment is refused, and warns", async () => {
      github.refusesComments = true;
      const options = { with: { comment: true }, event: pullRequestEvent(12) };
      const { result } = await runJob(completed, options);
      assert.equal(result.code, 0);
      const warnings = result.annotations.filter(({ level }) => level === "warning");
      for (const { message } of warnings) assert.match(message, /pull-requests: write/);
      assert.ok(warnings.length > 0);
    });

    test("comments on nothing where the event is about no pull request", async () => {
      const event = { issue: { number: 34 } };
      const { result } = await runJob(completed, { with: { comment: true }, event });
      assert.equal(result.code, 0);
      assert.deepEqual(github.comments, []);
      assert.match(result.log, /not about a pull request/);
    });
  });

  return {
    github: () => github,
    place: () => place,
    step,
    startJob,
    runJob,
    only,
    errors,
    completed,
  };
}
