import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { announce } from "../shell/announcer.tsx";
import { currentTime } from "../shell/clock_skew.ts";
import { Lock } from "../shell/icons.tsx";
import { describeProblem, type Problem } from "../shell/problem.ts";
import { ProblemPanel } from "../shell/problem_panel.tsx";
import { complainAboutToken, extractToken } from "./access_token.ts";
import { farewell, signOut } from "./session.ts";
import { arrivalAddress, hasLeft, keepLeft } from "./session_news.ts";
import * as styles from "./sign_in.module.css";
import { noteSignInStart, signInFailure } from "./sign_in_return.ts";
import {
  CookieRefused,
  type Issuer,
  readSignInMethods,
  type SignInMethods,
  signIn,
} from "./start_session.ts";
import { TokenHelp } from "./token_help.tsx";

/** Used until the gateway answers, and if that fails. A token always works. */
const TOKEN_ONLY: SignInMethods = { access: false, issuers: [] };

// Request the sign-in methods before the form renders.
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
    <div class={styles.route}>
      <p class={styles.lead}>
        Turn a prompt into a documentation pull request, and see which pages people and AI read.
      </p>
      <FarewellNotice />
      <FailureNotice />
      {/* Reserves space while the methods load, so that nothing below moves. */}
      <div class={`card ${styles.form} ${known ? "" : styles.waiting}`}>
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
        {(access || issuers.length > 0) && <p class={styles.or}>or with a token</p>}
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

const NOT_COMPLETED = "The sign-in wasn’t completed. Start again, or use a token.";
const MISCONFIGURED =
  "The gateway can’t complete this sign-in. Ask your gateway admin to check its log.";

/** Messages by the reason in the address after a failed sign-in at an issuer. */
const FAILURES: Record<string, string> = {
  "issuer-unavailable": "The sign-in service didn’t respond. Try again in a moment.",
  "sign-in-failed": NOT_COMPLETED,
  "cross-site": NOT_COMPLETED,
  "origin-not-allowed": NOT_COMPLETED,
  "invalid-request": NOT_COMPLETED,
  "not-found": NOT_COMPLETED,
  "method-not-allowed": MISCONFIGURED,
  misconfigured: MISCONFIGURED,
  internal: MISCONFIGURED,
  "object-unavailable": "The gateway’s storage didn’t respond. Try again in a moment.",
  "quota-exceeded": "You signed in too often. Try again later.",
};

function FailureNotice() {
  const kind = signInFailure(location.search);
  if (kind === null) return null;
  return (
    <p class="notice" role="status">
      {FAILURES[kind] ?? "Your account can’t sign in here. Ask your gateway admin for access."}
    </p>
  );
}

function IssuerLink({ issuer: { name, href } }: { issuer: Issuer }) {
  const back = encodeURIComponent(arrivalAddress(location.search));
  return (
    <a class="button primary" href={`${href}&return=${back}`} onClick={noteSignInStart}>
      {`Sign in with ${name}`}
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
    complaint.value = complainAboutToken(token.peek());
    if (complaint.value !== null) {
      input.current?.focus();
      return;
    }
    announce("Signing in");
    if (!(await onSend(extractToken(token.peek())))) input.current?.focus();
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
        <p id="token-hint" class={`hint ${styles.once}`}>
          <Lock />
          <span>You only need this once. We’ll keep you signed in with a secure cookie.</span>
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

function describeRefusal(error: unknown): Problem {
  const problem = describeProblem(error, currentTime());
  if (error instanceof CookieRefused) {
    return {
      ...problem,
      title: "Your browser didn’t keep the session",
      advice: "Open this page over https and allow cookies.",
      remedy: "other input",
    };
  }
  if ((error as { status?: unknown }).status !== 401) return problem;
  return {
    ...problem,
    title: "The gateway didn’t accept this token",
    advice: "Check that you copied all of it and that it’s for this gateway, or ask for a new one.",
    remedy: "other input",
  };
}

const OFFERS = [
  [
    "Update your docs with a prompt",
    "An agent works on it in the background. Watch it, send follow-ups and open its pull request.",
  ],
  [
    "See who reads your docs",
    "Pick a period to see page views by people and AI. Compare, filter and export them.",
  ],
  [
    "Your admin key stays private",
    "Each token is limited to certain projects and permissions, and expires. The admin key never leaves the server.",
  ],
] as const;

function Offer() {
  return (
    <section class={styles.offer} aria-labelledby="offer">
      <h2 id="offer">What you can do</h2>
      <dl>
        {OFFERS.map(([title, text]) => (
          <>
            <dt>{title}</dt>
            <dd>{text}</dd>
          </>
        ))}
      </dl>
    </section>
  );
}
