import { dayAndTime } from "../shell/wording.ts";
import type { Claims } from "./claims.ts";
import { replaceSession } from "./session.ts";
import "../styles/session_panel.css";

interface SessionPanelProps {
  claims: Claims;
  onKeys(): void;
}

/** Who is signed in, what they may do and until when. */
export function SessionPanel({ claims, onKeys }: SessionPanelProps) {
  return (
    <>
      <dl>
        <dt>Signed in as</dt>
        <dd>{claims.subject ?? "not said"}</dd>
        <dt>Scopes</dt>
        <dd>{claims.scopes.join(", ") || "none"}</dd>
        <dt>Ends</dt>
        <dd>{dayAndTime(claims.expiresAt)}</dd>
      </dl>
      <button type="button" class="quiet" onClick={onKeys}>
        Keyboard shortcuts
      </button>
      <button type="button" class="quiet" onClick={replaceSession}>
        Use another token
      </button>
    </>
  );
}
