import { useEffect, useLayoutEffect } from "preact/hooks";
import { useFocusOnMove } from "../live/wanted_focus.ts";
import { allows } from "../session/claims.ts";
import { ScopeHint, ScopeNotice } from "../session/scope_notice.tsx";
import type { Session } from "../session/session.ts";
import { defer } from "../shell/deferred.tsx";
import { registerKeys } from "../shell/keys.ts";
import { address } from "../shell/navigation.ts";
import type { JobBook } from "./job_book.ts";
import { JobList } from "./job_list.tsx";
import * as styles from "./jobs.module.css";
import { openComposer, useOpenDoubt } from "./open_composer.ts";
import { jobsOf } from "./session_jobs.ts";
import { LIST_WORDS } from "./words.ts";

const Composer = defer(async () => (await import("./composer.tsx")).Composer);
const JobPage = defer(async () => (await import("./job_page.tsx")).JobPage);

/** The jobs route: the list or one job, and the panel for a new job. */
export function Jobs({ session }: { session: Session }) {
  const { claims } = session;
  const book = jobsOf(session);
  const mayRead = allows(claims, "jobs:read");
  const mayWrite = allows(claims, "jobs:create");
  const { id } = address.value.jobs;
  useOpenDoubt(book);
  useNewJobKey(book, mayWrite);
  useFocusOnMove(id);
  useSheet(book, id);
  return (
    <div class={`stack ${styles.route}`}>
      {!mayWrite && id === null && <ScopeHint scope="jobs:create" lost={LIST_WORDS.mayNotStart} />}
      {mayWrite && book.composing.value && <Composer book={book} />}
      {!mayRead && <ScopeNotice scope="jobs:read" lost={LIST_WORDS.mayNotRead} />}
      {id === null && <JobList session={session} />}
      {mayRead && id !== null && <JobPage key={id} id={id} session={session} />}
    </div>
  );
}

function useNewJobKey(book: JobBook, mayWrite: boolean): void {
  // A layout effect makes the key work as soon as the button is visible.
  useLayoutEffect(() => {
    if (!mayWrite) return;
    const newJob = { keys: "n", label: LIST_WORDS.newJob, run: () => openComposer(book) };
    return registerKeys(LIST_WORDS.jobs, [newJob]);
  }, [book, mayWrite]);
}

/** Whether the panel for a new job is beside the route's content. The style sheet has the same width. */
const IS_BESIDE = "(min-width: 75rem)";

/** Closes the panel when the person leaves the list or job that it covers. The draft stays. */
function useSheet(book: JobBook, id: string | null): void {
  useEffect(
    () => () => {
      if (!matchMedia(IS_BESIDE).matches) book.setComposing(false);
    },
    [book, id],
  );
}
