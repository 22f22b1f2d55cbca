import { SIGN_IN_WORDS } from "./sign_in_words.ts";
import * as styles from "./token_help.module.css";

/** Explains how to get a token. */
export function TokenHelp() {
  const [before, after] = SIGN_IN_WORDS.local;
  return (
    <details class={styles.help}>
      <summary>{SIGN_IN_WORDS.howTo}</summary>
      <div class={`stack ${styles.text}`}>
        <p>{SIGN_IN_WORDS.ask}</p>
        <dl>
          {SIGN_IN_WORDS.scopes.map(([scope, meaning]) => (
            <div key={scope}>
              <dt>
                <code>{scope}</code>
              </dt>
              <dd>{meaning}</dd>
            </div>
          ))}
        </dl>
        <p>{SIGN_IN_WORDS.admin}</p>
        <pre>
          <code>
            npx quillgate token mint --sub alice --project acme --scope "jobs:create jobs:read
            analytics:read"
          </code>
        </pre>
        <p>
          {before}
          <code>npm start</code>
          {after}
        </p>
      </div>
    </details>
  );
}
