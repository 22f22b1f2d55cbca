import * as styles from "./token_help.module.css";

const SCOPES = [
  ["jobs:create", "start jobs and send follow-ups"],
  ["jobs:read", "see the project’s jobs"],
  ["analytics:read", "see page views, visitors, searches and feedback"],
  ["analytics:conversations", "see what readers ask the assistant"],
] as const;

/** Explains how to get a token. */
export function TokenHelp() {
  return (
    <details class={styles.help}>
      <summary>How do I get a token?</summary>
      <div class={`stack ${styles.text}`}>
        <p>Ask your gateway admin. Tell them your project and which of these you need:</p>
        <dl>
          {SCOPES.map(([scope, meaning]) => (
            <div key={scope}>
              <dt>
                <code>{scope}</code>
              </dt>
              <dd>{meaning}</dd>
            </div>
          ))}
        </dl>
        <p>
          If you’re the admin, set the gateway’s secret in the environment and create a token for 30
          days:
        </p>
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
