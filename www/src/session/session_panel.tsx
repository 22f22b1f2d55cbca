import { External } from "../shell/icons.tsx";
import { THEMES } from "../shell/preferences.ts";
import { chooseTheme, theme } from "../shell/theme.ts";
import { dayAndTime } from "../shell/wording.ts";
import type { Claims } from "./claims.ts";
import { replaceSession } from "./session.ts";
import * as styles from "./session_panel.module.css";
import { SESSION_WORDS } from "./words.ts";

const HELP = "https://www.mintlify.com/docs";

interface SessionPanelProps {
  claims: Claims;
  onKeys(): void;
}

/**
 * Shows the person, their permissions and the session's expiry, with a choice of theme and links.
 */
export function SessionPanel({ claims, onKeys }: SessionPanelProps) {
  return (
    <>
      <dl class={styles.facts}>
        <dt>{SESSION_WORDS.signedInAs}</dt>
        <dd>{claims.subject ?? SESSION_WORDS.unnamed}</dd>
        <dt>{SESSION_WORDS.permissions}</dt>
        <dd>{claims.scopes.join(", ") || SESSION_WORDS.none}</dd>
        <dt>{SESSION_WORDS.expires}</dt>
        <dd>{dayAndTime(claims.expiresAt)}</dd>
      </dl>
      <fieldset class={styles.themes}>
        <legend>{SESSION_WORDS.theme}</legend>
        {THEMES.map((choice) => (
          <label key={choice} class="check">
            <input
              type="radio"
              name="theme"
              checked={theme.value === choice}
              onChange={() => chooseTheme(choice)}
            />
            {SESSION_WORDS.themes[choice]}
          </label>
        ))}
      </fieldset>
      <button type="button" class="quiet" onClick={onKeys}>
        {SESSION_WORDS.shortcuts}
      </button>
      <a class="button quiet" href={HELP} target="_blank" rel="noopener">
        {SESSION_WORDS.help} <External />
      </a>
      <button type="button" class="quiet" onClick={replaceSession}>
        {SESSION_WORDS.anotherToken}
      </button>
    </>
  );
}
