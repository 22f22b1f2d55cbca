import type { RouteScreen } from "../routes.ts";
import { address, followLink, linkTo } from "../shell/navigation.ts";
import type { Claims } from "./claims.ts";
import { replaceSession, switchProject } from "./session.ts";

/** Stands where a route would when the session does not have the project of the address. */
export function NoProject({ claims: { projects } }: { claims: Claims }) {
  const { project } = address.value;
  return (
    <div class="notice">
      <p>
        {project === null || projects.length === 0 ? (
          "Your session is for no project."
        ) : (
          <>
            This link is for the project <code>{project}</code>, which your session does not
            include.
          </>
        )}
      </p>
      <div class="actions">
        {projects.map((id) => (
          <button key={id} type="button" onClick={() => switchProject(id)}>
            Open {id}
          </button>
        ))}
        <button type="button" class="quiet" onClick={replaceSession}>
          Use another token
        </button>
      </div>
    </div>
  );
}

interface RouteNotAllowedProps {
  screen: RouteScreen;
  /** Where the session's scopes do lead. */
  routes: readonly RouteScreen[];
}

/** Stands where a route would that no scope of the session allows. */
export function RouteNotAllowed({ screen, routes }: RouteNotAllowedProps) {
  return (
    <div class="notice">
      <p>
        To open {screen.title.toLowerCase()}, you need the scope{" "}
        {screen.scopes.map((scope, index) => (
          <>
            {index > 0 && " or "}
            <code key={scope}>{scope}</code>
          </>
        ))}
        , which your session lacks.
      </p>
      <div class="actions">
        {routes.map(({ id, title }) => (
          <a
            key={id}
            class="button"
            href={linkTo({ route: id })}
            onClick={(event) => followLink(event, { route: id })}
          >
            Go to {title.toLowerCase()}
          </a>
        ))}
        <button type="button" class="quiet" onClick={replaceSession}>
          Use another token
        </button>
      </div>
    </div>
  );
}
