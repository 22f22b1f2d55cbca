import { now } from "./clock.ts";
import { askForAnotherToken, type Session, signOut } from "./session.ts";
import { dayAndTime, duration } from "./wording.ts";

const SOON_MS = 10 * 60_000;

export function SessionMenu({ session }: { session: Session }) {
  const { claims, projectId } = session;
  const left = claims.expiresAt === null ? null : claims.expiresAt - now.value;
  const soon = left !== null && left < SOON_MS;
  return (
    <div class="session">
      <details class="session-menu" onKeyDown={closeOnEscape}>
        <summary>
          <span class="visually-hidden">Session of project </span>
          <span class="session-project">{projectId}</span>
          {soon && <span class="session-soon">{left > 0 ? duration(left) : "expired"}</span>}
        </summary>
        <div class="session-panel">
          <dl>
            <dt>Signed in as</dt>
            <dd>{claims.subject ?? "not said"}</dd>
            <dt>Scopes</dt>
            <dd>{claims.scopes?.join(", ") ?? "not said"}</dd>
            <dt>Expires</dt>
            <dd>{claims.expiresAt === null ? "not said" : dayAndTime(claims.expiresAt)}</dd>
          </dl>
          <button type="button" class="quiet" onClick={() => askForAnotherToken(null)}>
            Use another token
          </button>
        </div>
      </details>
      <button type="button" class="quiet" onClick={signOut}>
        Sign out
      </button>
    </div>
  );
}

function closeOnEscape(event: KeyboardEvent) {
  const menu = event.currentTarget;
  if (event.key !== "Escape" || !(menu instanceof HTMLDetailsElement)) return;
  menu.open = false;
  menu.querySelector("summary")?.focus();
}
