import { effect, untracked } from "@preact/signals";
import type { Session } from "../session/session.ts";
import { type Command, registerCommands } from "../shell/commands.ts";
import { visit } from "../shell/navigation.ts";
import { titleMark } from "../shell/title_mark.ts";
import { JobBook } from "./job_book.ts";
import { jobNews } from "./job_news.ts";
import { jobState, titleOf } from "./job_state.ts";
import { streamOf } from "./jobs_api.ts";
import { LIST_WORDS } from "./words.ts";

const books = new WeakMap<Session, JobBook>();

/** Returns the jobs of a session's project. The first call starts following them. */
export function jobsOf(session: Session): JobBook {
  return books.get(session) ?? untracked(() => followJobs(session));
}

function followJobs(session: Session): JobBook {
  const { client, projectId, claims, data, end } = session;
  const openStream = streamOf(session);
  const book = new JobBook({
    client,
    projectId,
    claims,
    data,
    openStream,
    ended: end.signal,
    onJobs: (jobs) =>
      jobNews.note(
        session,
        jobs.map((job) => [job.id, job]),
      ),
    onDeleted: (id) => jobNews.note(session, [[id, null]]),
  });
  books.set(session, book);
  const stopMarking = effect(() => {
    titleMark.value = book.titleMark.value;
  });
  const stopListing = registerCommands(LIST_WORDS.jobs, () => jobCommands(book));
  end.signal.addEventListener("abort", () => {
    stopListing();
    stopMarking();
    titleMark.value = "";
  });
  book.start();
  return book;
}

function jobCommands({ list }: JobBook): Command[] {
  return (list.listing.value?.items ?? []).map((job) => ({
    label: `${titleOf(job.prompt ?? "") || LIST_WORDS.untitled(job.id)} · ${jobState(job).word}`,
    needsQuery: true,
    run: () => visit({ route: "jobs", jobs: { id: job.id } }),
  }));
}
