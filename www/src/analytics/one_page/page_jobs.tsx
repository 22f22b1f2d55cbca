import { useEffect } from "preact/hooks";
import type { JobPage, ListedJob } from "quillgate";
import { parseInstant, readPullRequest } from "quillgate/values";
import { MergeEffect } from "../../effect/merge_effect.tsx";
import { JobRows } from "../../jobs/job_rows.tsx";
import { readPullRequestState } from "../../jobs/pull_request_state.ts";
import type { Session } from "../../session/session.ts";
import { ProblemPanel } from "../../shell/problem_panel.tsx";
import { useRead } from "../../shell/use_read.ts";
import { type Day, dayOf } from "../period/address_words.ts";
import { mentionsPage, spellingsOf } from "../rows/page_path.ts";
import { PAGE_WORDS } from "./words.ts";

/** The API's maximum, because some matches are about other pages: the gateway finds substrings. */
const MAX_JOBS = 100;
/** How many pages of a search to read until one has jobs. */
const MAX_PAGES = 5;
/** How many pull requests to look up on their host. */
const MAX_LOOKUPS = 5;

interface FoundJobs {
  jobs: readonly ListedJob[];
  hasOlder: boolean;
  /** When pull requests were merged, in milliseconds since the epoch, newest first. */
  merges: readonly number[];
}

interface PageJobsProps {
  session: Session;
  path: string;
  /** Receives the days on which pull requests were merged. */
  onMerges(days: readonly Day[]): void;
}

/** The jobs with the path in their prompt. The gateway's own list costs no Mintlify requests. */
export function PageJobs({ session, path, onMerges }: PageJobsProps) {
  const read = (signal: AbortSignal) => findJobs(session, path, signal);
  const { value: found, problem, retry } = useRead(session.end.signal, read, []);
  useEffect(() => {
    if (found !== null) onMerges(found.merges.map(dayOf));
  }, [found]);
  if (problem !== null) return <ProblemPanel problem={problem} onRetry={retry} />;
  if (found === null) return <p class="hint">{PAGE_WORDS.loading}</p>;
  const { jobs, hasOlder, merges } = found;
  const [mergedAt] = merges;
  return (
    <>
      {jobs.length === 0 && !hasOlder && <p class="hint">{PAGE_WORDS.noJobs}</p>}
      {jobs.length > 0 && <JobRows jobs={jobs} isBusy={false} />}
      {hasOlder && <p class="hint">{PAGE_WORDS.olderJobs}</p>}
      {mergedAt !== undefined && <MergeEffect session={session} path={path} mergedAt={mergedAt} />}
    </>
  );
}

/** Searches for every spelling, because the gateway compares strings. */
async function findJobs(session: Session, path: string, signal: AbortSignal): Promise<FoundJobs> {
  const search = async (text: string) => {
    let page: JobPage = await session.client.agentJobs.list({ text, limit: MAX_JOBS }, { signal });
    // A page of a search can be empty although older jobs match.
    for (let pages = 1; pages < MAX_PAGES && page.jobs.length === 0; pages += 1) {
      const { nextCursor: cursor } = page;
      if (cursor === null) break;
      page = await session.client.agentJobs.list({ text, limit: MAX_JOBS, cursor }, { signal });
    }
    return page;
  };
  const pages = await Promise.all(spellingsOf(path).map(search));
  const found = new Map(pages.flatMap(({ jobs }) => jobs.map((job) => [job.id, job])));
  const jobs = [...found.values()].filter(({ prompt }) => mentionsPage(prompt ?? "", path));
  jobs.sort((a, b) => (parseInstant(b.createdAt) ?? 0) - (parseInstant(a.createdAt) ?? 0));
  const requests = jobs.filter(({ prLink }) => readPullRequest(prLink) !== null);
  const states = await Promise.all(
    requests.slice(0, MAX_LOOKUPS).map(({ id }) => readPullRequestState(session, id, signal)),
  );
  const merges = states.map((state) => state?.mergedAt).filter((at) => typeof at === "number");
  merges.sort((a, b) => b - a);
  return { jobs, hasOlder: pages.some(({ nextCursor }) => nextCursor !== null), merges };
}
