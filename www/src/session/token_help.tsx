import { SIGN_IN_WORDS } from "./sign_in_words.ts";

/** Explains how to get a token. */
export function TokenHelp() {
  const [before, after] = SIGN_IN_WORDS.local;
  return (
    <details class="token-help">
      <summary>{SIGN_IN_WORDS.howTo}</summary>
      <div class="token-help-text">
        <p>{SIGN_IN_WORDS.ask}</p>
        <dl class="facts">
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
