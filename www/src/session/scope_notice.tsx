import { replaceSession } from "./session.ts";

/** Says that the session's scopes leave something out, before a request finds out. */
export function ScopeNotice({ scope, lost }: { scope: string; lost: string }) {
  return (
    <div class="notice">
      <p>
        Your session lacks the scope <code>{scope}</code>, so {lost}.
      </p>
      <button type="button" class="quiet" onClick={replaceSession}>
        Use another token
      </button>
    </div>
  );
}
