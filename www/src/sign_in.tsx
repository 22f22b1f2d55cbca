import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { type Claims, readAccessToken } from "./access_token.ts";
import { Lock } from "./icons.tsx";
import { farewell, signIn } from "./session.ts";
import { dayAndTime } from "./wording.ts";

export function SignIn() {
  const token = useSignal("");
  const project = useSignal("");
  const problem = useSignal<string | null>(null);
  const form = useRef<HTMLFormElement>(null);
  const reading = readAccessToken(token.value, Date.now());
  const claims = reading.ok ? reading.claims : null;
  const projectId = chosenProject(claims, project.value);

  function submit(event: Event) {
    event.preventDefault();
    const now = readAccessToken(token.value, Date.now());
    if (!now.ok) return refuse(now.reason, "token");
    if (projectId === "") return refuse("Say which project to open.", "project");
    signIn(projectId, token.value.trim(), now.claims);
  }

  function refuse(reason: string, field: "token" | "project") {
    problem.value = reason;
    const input = form.current?.elements.namedItem(field);
    if (input instanceof HTMLElement) input.focus();
  }

  return (
    <div class="sign-in">
      <p class="lead">
        Turn a prompt into a documentation pull request, and export page views as CSV. You need an
        access token of this gateway.
      </p>
      {farewell.value && (
        <p class="notice" role="status">
          {farewell.value}
        </p>
      )}
      <form ref={form} class="card sign-in-form" onSubmit={submit} noValidate>
        <div class="field">
          <label for="token">Access token</label>
          <input
            id="token"
            name="token"
            type="password"
            autocomplete="off"
            spellcheck={false}
            value={token.value}
            aria-describedby="token-hint sign-in-problem"
            aria-invalid={problem.value !== null && !reading.ok}
            onInput={(event) => {
              token.value = event.currentTarget.value;
              problem.value = null;
            }}
          />
          <p id="token-hint" class="hint">
            <Lock />
            Kept in this tab only, and gone when you sign out or close it.
          </p>
        </div>
        {claims && <ClaimsSummary claims={claims} />}
        <ProjectField claims={claims} value={projectId} onChoose={(id) => (project.value = id)} />
        <p id="sign-in-problem" class="field-problem" role="alert">
          {problem.value}
        </p>
        <button type="submit" class="primary">
          Sign in
        </button>
      </form>
      <Offer />
    </div>
  );
}

function Offer() {
  return (
    <section class="offer" aria-labelledby="offer">
      <h2 id="offer">What you can do here</h2>
      <dl>
        <dt>Have the docs changed</dt>
        <dd>
          Write a prompt. An agent works on it in the background; you watch, send follow-ups and
          open its pull request.
        </dd>
        <dt>See who reads them</dt>
        <dd>
          Choose days. You get the human and AI views of every page, to sort, to filter and to
          download as one CSV.
        </dd>
        <dt>Without the admin key</dt>
        <dd>
          Your token names your projects and what you may do, and it expires. The platform’s own key
          stays on the server.
        </dd>
      </dl>
    </section>
  );
}

interface ProjectFieldProps {
  claims: Claims | null;
  value: string;
  onChoose(projectId: string): void;
}

function ProjectField({ claims, value, onChoose }: ProjectFieldProps) {
  return (
    <div class="field">
      <label for="project">Project</label>
      {claims?.projects ? (
        <select
          id="project"
          name="project"
          value={value}
          onChange={(event) => onChoose(event.currentTarget.value)}
        >
          {claims.projects.map((id) => (
            <option key={id} value={id}>
              {id}
            </option>
          ))}
        </select>
      ) : (
        <input
          id="project"
          name="project"
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          value={value}
          aria-describedby="project-hint"
          onInput={(event) => onChoose(event.currentTarget.value)}
        />
      )}
      {!claims?.projects && (
        <p id="project-hint" class="hint">
          The project id. A token that lists its projects fills this in.
        </p>
      )}
    </div>
  );
}

function ClaimsSummary({ claims }: { claims: Claims }) {
  return (
    <dl class="claims">
      <dt>Signed in as</dt>
      <dd>{claims.subject ?? "not said"}</dd>
      <dt>Scopes</dt>
      <dd>{claims.scopes?.join(", ") ?? "not said"}</dd>
      <dt>Expires</dt>
      <dd>{claims.expiresAt === null ? "not said" : dayAndTime(claims.expiresAt)}</dd>
    </dl>
  );
}

function chosenProject(claims: Claims | null, typed: string): string {
  const listed = claims?.projects;
  if (!listed) return typed.trim();
  return listed.includes(typed) ? typed : (listed[0] ?? "");
}
