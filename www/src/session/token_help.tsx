const SCOPES = [
  ["jobs:create", "start jobs and send follow-ups"],
  ["jobs:read", "see the project’s jobs"],
  ["analytics:read", "see page views and the other reports"],
] as const;

/** How somebody comes by a token, answered where the question arises. */
export function TokenHelp() {
  return (
    <details class="token-help">
      <summary>How do I get a token?</summary>
      <div class="token-help-text">
        <p>
          Ask whoever runs this gateway. Say which project you work on and what you want to do; each
          token names its projects and scopes:
        </p>
        <dl class="facts">
          {SCOPES.map(([scope, meaning]) => (
            <div key={scope}>
              <dt>
                <code>{scope}</code>
              </dt>
              <dd>{meaning}</dd>
            </div>
          ))}
        </dl>
        <p>If you run it, set its secret in the environment and make one for 30 days:</p>
        <pre>
          <code>
            npx quillgate token mint --sub alice --project acme --scope "jobs:create jobs:read
            analytics:read"
          </code>
        </pre>
        <p>
          Trying it out with <code>npm start</code>? Open the sign-in link that the terminal prints.
        </p>
      </div>
    </details>
  );
}
