import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { announce } from "../shell/announcer.tsx";
import { Lock } from "../shell/icons.tsx";
import { describeProblem, type Problem } from "../shell/problem.ts";
import { ProblemPanel } from "../shell/problem_panel.tsx";
import { complainAboutToken } from "./access_token.ts";
import { farewell, signOut } from "./session.ts";
import { arrivalAddress, hasLeft, keepLeft } from "./session_news.ts";
import {
  CookieRefused,
  type Issuer,
  readSignInMethods,
  type SignInMethods,
  signIn,
} from "./start_session.ts";
import { TokenHelp } from "./token_help.tsx";
import "../styles/sign_in.css";

/** Where nothing is known of other ways to sign in, a token is the one that always works. */
const TOKEN_ONLY: SignInMethods = { access: false, issuers: [] };

// Asked while the form is being made.
readSignInMethods().catch(() => {});

export function SignIn() {
  const methods = useSignal<SignInMethods | null>(null);
  const busy = useSignal(false);
  const problem = useSignal<Problem | null>(null);

  async function attempt(token: string | null): Promise<boolean> {
    if (busy.peek()) return false;
    busy.value = true;
    problem.value = null;
    try {
      await signIn(token);
      return true;
    } catch (error) {
      problem.value = describeRefusal(error);
      return false;
    } finally {
      busy.value = false;
    }
  }

  useEffect(() => {
    readSignInMethods()
      .catch(() => TOKEN_ONLY)
      .then((offered) => {
        methods.value = offered;
        if (!offered.access) return;
        if (hasLeft()) keepLeft();
        else attempt(null);
      });
  }, []);

  const known = methods.value !== null;
  const { access, issuers } = methods.value ?? TOKEN_ONLY;
  return (
    <div class="sign-in">
      <p class="lead">
        Turn a prompt into a documentation pull request, and see which pages people and AI read.
      </p>
      <FarewellNotice />
      <FailureNotice />
      {/* It has its place from the start, so that nothing below it moves. */}
      <div class={known ? "card sign-in-form" : "card sign-in-form waiting-form"}>
        {issuers.map((issuer) => (
          <IssuerLink key={issuer.href} issuer={issuer} />
        ))}
        {access && (
          <button
            type="button"
            class="primary"
            aria-disabled={busy.value}
            onClick={() => attempt(null)}
          >
            Continue with Cloudflare Access
          </button>
        )}
        {(access || issuers.length > 0) && <p class="or">or with a token</p>}
        <TokenForm busy={busy.value} onSend={attempt} />
        {problem.value && <ProblemPanel problem={problem.value} />}
        <TokenHelp />
      </div>
      <Offer />
    </div>
  );
}

function FarewellNotice() {
  const said = farewell.value;
  if (said === null) return null;
  return (
    <div class="notice" role="status">
      <p>{said.text}</p>
      {said.offer && (
        <button type="button" onClick={signOut}>
          {said.offer}
        </button>
      )}
    </div>
  );
}

/** Why an issuer, to which the person went from here, has not signed them in. */
const FAILURES: Record<string, string> = {
  "issuer-unavailable": "The issuer did not answer. Try again in a moment.",
  "sign-in-failed": "The sign-in was not completed. Begin again, or use a token.",
};

function FailureNotice() {
  const kind = new URLSearchParams(location.search).get("sign-in-failed");
  if (kind === null) return null;
  return (
    <p class="notice" role="status">
      {FAILURES[kind] ??
        "The gateway did not let you in. Ask whoever runs it whether your account may sign in."}
    </p>
  );
}

function IssuerLink({ issuer: { name, href } }: { issuer: Issuer }) {
  const back = encodeURIComponent(arrivalAddress(location.search));
  return (
    <a class="button primary" href={`${href}&return=${back}`}>
      Sign in with {name}
    </a>
  );
}

interface TokenFormProps {
  busy: boolean;
  onSend(token: string): Promise<boolean>;
}

function TokenForm({ busy, onSend }: TokenFormProps) {
  const token = useSignal("");
  const complaint = useSignal<string | null>(null);
  const input = useRef<HTMLInputElement>(null);

  async function submit(event: Event) {
    event.preventDefault();
    complaint.value = complainAboutToken(token.peek(), Date.now());
    if (complaint.value !== null) {
      input.current?.focus();
      return;
    }
    announce("Signing in");
    if (!(await onSend(token.peek().trim()))) input.current?.focus();
  }

  return (
    <form onSubmit={submit} noValidate>
      <div class="field">
        <label for="token">Access token</label>
        <input
          ref={input}
          id="token"
          type="password"
          autocomplete="off"
          spellcheck={false}
          value={token.value}
          aria-describedby="token-hint token-complaint"
          aria-invalid={complaint.value !== null}
          onInput={(event) => {
            token.value = event.currentTarget.value;
            complaint.value = null;
          }}
        />
        <p id="token-hint" class="hint">
          <Lock />
          Used once: the gateway keeps you signed in with a cookie that no script can read.
        </p>
      </div>
      <p id="token-complaint" class="field-problem" role="alert">
        {complaint.value}
      </p>
      <button type="submit" class="primary" aria-disabled={busy}>
        {busy ? "Signing in…" : "Sign in"}
      </button>
    </form>
  );
}

/** Why the gateway did not let somebody in. */
function describeRefusal(error: unknown): Problem {
  const problem = describeProblem(error, Date.now());
  if (error instanceof CookieRefused) {
    return {
      ...problem,
      title: "Your browser did not keep the session",
      advice: "Open this page over https, and allow cookies for it.",
      remedy: "other input",
    };
  }
  if ((error as { status?: unknown }).status !== 401) return problem;
  return {
    ...problem,
    title: "The gateway did not accept this token",
    advice:
      "Check that you copied all of it and that it is for this gateway, or ask for a new one.",
    remedy: "other input",
  };
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
          Choose days. You get the views of every page by people and by AI, to compare, to filter
          and to export.
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
