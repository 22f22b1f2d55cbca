import { type Signal, signal } from "@preact/signals";
import type { ListedJob } from "quillgate";
import type { Session } from "../session/session.ts";

const news = new WeakMap<Session, Signal<readonly ListedJob[]>>();

/**
 * Returns the jobs of the latest response or event of a session. Routes read them without loading
 * the code that follows jobs.
 */
export function jobNews(session: Session): Signal<readonly ListedJob[]> {
  const known = news.get(session) ?? signal<readonly ListedJob[]>([]);
  news.set(session, known);
  return known;
}
