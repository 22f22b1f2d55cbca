import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { ListedJob } from "quillgate";
import { parseInstant } from "quillgate/values";
import { JobRows } from "../../jobs/job_rows.tsx";
import type { Session } from "../../session/session.ts";
import { currentTime } from "../../shell/clock_skew.ts";
import { describeProblem, type Problem } from "../../shell/problem.ts";
import { ProblemPanel } from "../../shell/problem_panel.tsx";
import { mentionsPage, spellingsOf } from "../rows/page_path.ts";
import { PAGE_WORDS } from "../rows/page_words.ts";

/** The API's maximum, because some matches are about other pages: the gateway finds substrings. */
const MAX_JOBS = 100;

interface FoundJobs {
  jobs: readonly ListedJob[];
  hasOlder: boolean;
}

/** The jobs with the path in their prompt. The gateway's own list costs no Mintlify requests. */
export function PageJobs({ session, path }: { session: Session; path: string }) {
  const found = useSignal<FoundJobs | null>(null);
  const problem = useSignal<Problem | null>(null);
  const attempt = useSignal(0);
  useEffect(() => {
    const leave = new AbortController();
    const signal = AbortSignal.any([leave.signal, session.end.signal]);
    found.value = null;
    problem.value = null;
    findJobs(session, path, signal).then(
      (jobs) => {
        if (!signal.aborted) found.value = jobs;
      },
      (error) => {
        if (!signal.aborted) problem.value = describeProblem(error, currentTime());
      },
    );
    return () => leave.abort();
  }, [session, path, attempt.value]);
  if (problem.value !== null) {
    return (
      <ProblemPanel
        problem={problem.value}
        onRetry={() => {
          attempt.value += 1;
        }}
      />
    );
  }
  if (found.value === null) return <p class="hint">{PAGE_WORDS.loading}</p>;
  const { jobs, hasOlder } = found.value;
  return (
    <>
      {jobs.length === 0 && <p class="hint">{PAGE_WORDS.noJobs}</p>}
      {jobs.length > 0 && <JobRows jobs={jobs} isBusy={false} />}
      {hasOlder && <p class="hint">{PAGE_WORDS.olderJobs}</p>}
    </>
  );
}

/** Searches for every spelling, because the gateway compares strings. */
async function findJobs(
  { client }: Session,
  path: string,
  signal: AbortSignal,
): Promise<FoundJobs> {
  const pages = await Promise.all(
    spellingsOf(path).map((text) => client.agentJobs.list({ text, limit: MAX_JOBS }, { signal })),
  );
  const found = new Map(pages.flatMap(({ jobs }) => jobs.map((job) => [job.id, job])));
  const jobs = [...found.values()].filter(({ prompt }) => mentionsPage(prompt ?? "", path));
  jobs.sort((a, b) => (parseInstant(b.createdAt) ?? 0) - (parseInstant(a.createdAt) ?? 0));
  return { jobs, hasOlder: pages.some(({ nextCursor }) => nextCursor !== null) };
}
