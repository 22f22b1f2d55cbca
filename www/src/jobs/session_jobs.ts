import { effect, untracked } from "@preact/signals";
import type { Session } from "../session/session.ts";
import { titleMark } from "../shell/title_mark.ts";
import { JobBook } from "./job_book.ts";

const books = new WeakMap<Session, JobBook>();

/** The jobs of a session's project, which are followed from the first time that somebody asks. */
export function jobsOf(session: Session): JobBook {
  return books.get(session) ?? untracked(() => followJobs(session));
}

function followJobs(session: Session): JobBook {
  const { client, projectId, claims, end } = session;
  const book = new JobBook(client, projectId, end.signal, claims);
  books.set(session, book);
  const stopMarking = effect(() => {
    titleMark.value = book.titleMark.value;
  });
  end.signal.addEventListener("abort", () => {
    stopMarking();
    titleMark.value = "";
  });
  book.start();
  return book;
}
