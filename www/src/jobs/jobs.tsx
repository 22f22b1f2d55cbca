import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { allows } from "../session/claims.ts";
import { ScopeNotice } from "../session/scope_notice.tsx";
import type { Session } from "../session/session.ts";
import { defer } from "../shell/deferred.tsx";
import { registerKeys } from "../shell/keys.ts";
import { address } from "../shell/navigation.ts";
import type { JobBook } from "./job_book.ts";
import { wantedTitle } from "./job_focus.ts";
import { focusFilter, focusJobRow, JobList } from "./job_list.tsx";
import { openComposer, useOpenDoubt } from "./open_composer.ts";
import { jobsOf } from "./session_jobs.ts";
import "../styles/jobs.css";

const loadComposer = async () => (await import("./composer.tsx")).Composer;
const Composer = defer(loadComposer);
const loadJobPage = async () => (await import("./job_page.tsx")).JobPage;
const JobPage = defer(loadJobPage);

/** The jobs of a project: the list, or one of them by itself, and the panel for a new one. */
export function Jobs({ session }: { session: Session }) {
  const { claims } = session;
  const book = jobsOf(session);
  const mayRead = allows(claims, "jobs:read");
  const mayWrite = allows(claims, "jobs:create");
  const { id } = address.value.jobs;
  useOpenDoubt(book);
  useShortcuts(book, mayWrite, mayRead && id === null);
  useFocusOnMove(id);
  return (
    <div class="jobs">
      {!mayWrite && <ScopeNotice scope="jobs:create" lost="it cannot start jobs" />}
      {mayWrite && book.composing.value && <Composer book={book} />}
      {!mayRead && <ScopeNotice scope="jobs:read" lost="it cannot list or follow jobs" />}
      {id === null && <JobList session={session} />}
      {mayRead && id !== null && <JobPage key={id} id={id} session={session} />}
    </div>
  );
}

function useShortcuts(book: JobBook, mayWrite: boolean, isFilterShown: boolean): void {
  // A key works from the moment that its button is there to be seen.
  useLayoutEffect(() => {
    const newJob = { keys: "n", label: "New job", run: () => openComposer(book) };
    const filter = { keys: "/", label: "Filter", run: focusFilter };
    const bindings = [...(mayWrite ? [newJob] : []), ...(isFilterShown ? [filter] : [])];
    if (bindings.length > 0) return registerKeys("Agent jobs", bindings);
  }, [book, mayWrite, isFilterShown]);
}

/** Between the list and a job, the focus goes to what the person has come to. */
function useFocusOnMove(id: string | null): void {
  const before = useRef<string | null | undefined>(undefined);
  useEffect(() => {
    const from = before.current;
    before.current = id;
    if (from === undefined || from === id) return;
    if (id !== null) wantedTitle.value = id;
    else if (from !== null) focusJobRow(from);
  }, [id]);
}
