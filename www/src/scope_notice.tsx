import { askForAnotherToken } from "./session.ts";

/** Says that the token's scopes leave something out, before a request finds out. */
export function ScopeNotice({ scope, lost }: { scope: string; lost: string }) {
  return (
    <div class="notice">
      <p>
        Your access token lacks the scope <code>{scope}</code>, so {lost}.
      </p>
      <button type="button" class="quiet" onClick={() => askForAnotherToken(null)}>
        Use another token
      </button>
    </div>
  );
}
