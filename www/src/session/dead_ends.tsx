import { Link } from "../shell/link.tsx";
import { address } from "../shell/navigation.ts";
import type { Claims } from "./claims.ts";
import type { RouteScreen } from "./routes.ts";
import { replaceSession, switchProject } from "./session.ts";
import { SESSION_WORDS } from "./words.ts";

/** Shown when the session has no projects, or lacks the project in the address. */
export function NoProject({ claims: { projects } }: { claims: Claims }) {
  const { project } = address.value;
  return (
    <div class="notice">
      <p>
        {project === null || projects.length === 0
          ? SESSION_WORDS.noProjects
          : SESSION_WORDS.wrongProject(project)}
      </p>
      <div class="actions">
        {projects.map((id) => (
          <button key={id} type="button" onClick={() => switchProject(id)}>
            {SESSION_WORDS.openProject(id)}
          </button>
        ))}
        <button type="button" class="quiet" onClick={replaceSession}>
          {SESSION_WORDS.anotherToken}
        </button>
      </div>
    </div>
  );
}

interface RouteNotAllowedProps {
  screen: RouteScreen;
  /** The routes that the session's scopes allow. */
  routes: readonly RouteScreen[];
}

/** Shown instead of a route that the session's scopes do not allow. */
export function RouteNotAllowed({ screen, routes }: RouteNotAllowedProps) {
  return (
    <div class="notice">
      <p>
        You need the{" "}
        {screen.scopes.map((scope, index) => (
          <>
            {index > 0 && " or "}
            <code key={scope}>{scope}</code>
          </>
        ))}{" "}
        permission {SESSION_WORDS.routeNeeds(screen.title.toLowerCase())}
      </p>
      <div class="actions">
        {routes.map(({ id, title }) => (
          <Link key={id} class="button" to={{ route: id }}>
            {SESSION_WORDS.goTo(title.toLowerCase())}
          </Link>
        ))}
        <button type="button" class="quiet" onClick={replaceSession}>
          {SESSION_WORDS.anotherToken}
        </button>
      </div>
    </div>
  );
}
