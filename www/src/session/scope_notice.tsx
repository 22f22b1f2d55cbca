import { replaceSession } from "./session.ts";
import { SESSION_WORDS } from "./words.ts";

interface ScopeNoticeProps {
  scope: string;
  /** The actions that need the scope, as in "start jobs". */
  lost: string;
}

/** Explains that a scope is missing, before a request fails. */
export function ScopeNotice({ scope, lost }: ScopeNoticeProps) {
  return (
    <div class="notice">
      <p>
        You need the <code>{scope}</code> permission {SESSION_WORDS.missingFor(lost)}
      </p>
      <button type="button" class="quiet" onClick={replaceSession}>
        {SESSION_WORDS.anotherToken}
      </button>
    </div>
  );
}

/** Less prominent than `ScopeNotice`, for a route that works without the scope. */
export function ScopeHint({ scope, lost }: ScopeNoticeProps) {
  return (
    <p class="hint">
      You need the <code>{scope}</code> permission {SESSION_WORDS.missingFor(lost)}
    </p>
  );
}
