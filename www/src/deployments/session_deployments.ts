import { untracked } from "@preact/signals";
import { listenToStreams } from "../live/stream_pulse.ts";
import type { Session } from "../session/session.ts";
import { DeploymentBook } from "./deployment_book.ts";
import { deploymentNews } from "./deployment_news.ts";

const books = new WeakMap<Session, DeploymentBook>();

/** Returns the deployments of a session's project. The first call starts following them. */
export function deploymentsOf(session: Session): DeploymentBook {
  return books.get(session) ?? untracked(() => followDeployments(session));
}

function followDeployments(session: Session): DeploymentBook {
  const { client, projectId, claims, data, send, end } = session;
  const book = new DeploymentBook({
    client,
    projectId,
    claims,
    data,
    openStream: ({ signal, after, ...listener }) => {
      const observed = client.withOptions({ fetch: listenToStreams(listener, send) });
      return observed.deployments.watchAll({ after, signal });
    },
    ended: end.signal,
    onDeployments: (deployments) =>
      deploymentNews.note(
        session,
        deployments.map((deployment) => [deployment.statusId, deployment]),
      ),
    onDeleted: (id) => deploymentNews.note(session, [[id, null]]),
  });
  books.set(session, book);
  book.start();
  return book;
}
