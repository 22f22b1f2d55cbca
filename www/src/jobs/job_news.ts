import { type Signal, signal } from "@preact/signals";
import type { ListedJob } from "quillgate";
import type { Session } from "../session/session.ts";

/** Jobs by id, as the latest response or event described each; `null` if it was deleted. */
type News = ReadonlyMap<string, ListedJob | null>;

const news = new WeakMap<Session, Signal<News>>();

/**
 * Returns the jobs that the responses and events of a session described. Routes read them without
 * loading the code that follows jobs.
 */
export function jobNews(session: Session): Signal<News> {
  const known = news.get(session) ?? signal<News>(new Map());
  news.set(session, known);
  return known;
}

export function noteJobs(session: Session, jobs: readonly ListedJob[]): void {
  note(
    session,
    jobs.map((job) => [job.id, job]),
  );
}

export function noteDeletedJob(session: Session, id: string): void {
  note(session, [[id, null]]);
}

function note(session: Session, jobs: readonly [string, ListedJob | null][]): void {
  const known = jobNews(session);
  known.value = new Map([...known.peek(), ...jobs]);
}
