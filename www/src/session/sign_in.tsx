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
import { SIGN_IN_WORDS } from "./sign_in_words.ts";
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
      <p class={styles.lead}>{SIGN_IN_WORDS.lead}</p>
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
            {SIGN_IN_WORDS.access}
          </button>
        )}
        {(access || issuers.length > 0) && <p class={styles.or}>{SIGN_IN_WORDS.orToken}</p>}
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

/** Messages by the reason in the address after a failed sign-in at an issuer. */
const FAILURES: Record<string, string> = {
  "issuer-unavailable": SIGN_IN_WORDS.issuerUnavailable,
  "sign-in-failed": SIGN_IN_WORDS.signInFailed,
  "cross-site": SIGN_IN_WORDS.signInFailed,
  "origin-not-allowed": SIGN_IN_WORDS.signInFailed,
  "invalid-request": SIGN_IN_WORDS.signInFailed,
  "not-found": SIGN_IN_WORDS.signInFailed,
  "method-not-allowed": SIGN_IN_WORDS.misconfigured,
  misconfigured: SIGN_IN_WORDS.misconfigured,
  internal: SIGN_IN_WORDS.misconfigured,
  "object-unavailable": SIGN_IN_WORDS.gatewayUnavailable,
  "quota-exceeded": SIGN_IN_WORDS.tooMany,
};

function FailureNotice() {
  const kind = signInFailure(location.search);
  if (kind === null) return null;
  return (
    <p class="notice" role="status">
      {FAILURES[kind] ?? SIGN_IN_WORDS.notAllowed}
    </p>
  );
}

function IssuerLink({ issuer: { name, href } }: { issuer: Issuer }) {
  const back = encodeURIComponent(arrivalAddress(location.search));
  return (
    <a class="button primary" href={`${href}&return=${back}`} onClick={noteSignInStart}>
      {SIGN_IN_WORDS.with(name)}
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
    announce(SIGN_IN_WORDS.signingIn);
    if (!(await onSend(extractToken(token.peek())))) input.current?.focus();
  }

  return (
    <form onSubmit={submit} noValidate>
      <div class="field">
        <label for="token">{SIGN_IN_WORDS.token}</label>
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
          <span>{SIGN_IN_WORDS.once}</span>
        </p>
      </div>
      <p id="token-complaint" class="field-problem" role="alert">
        {complaint.value}
      </p>
      <button type="submit" class="primary" aria-disabled={busy}>
        {busy ? `${SIGN_IN_WORDS.signingIn}…` : SIGN_IN_WORDS.submit}
      </button>
    </form>
  );
}

function describeRefusal(error: unknown): Problem {
  const problem = describeProblem(error, currentTime());
  if (error instanceof CookieRefused) {
    return {
      ...problem,
      title: SIGN_IN_WORDS.noCookie,
      advice: SIGN_IN_WORDS.noCookieHint,
      remedy: "other input",
    };
  }
  if ((error as { status?: unknown }).status !== 401) return problem;
  return {
    ...problem,
    title: SIGN_IN_WORDS.rejected,
    advice: SIGN_IN_WORDS.rejectedHint,
    remedy: "other input",
  };
}

function Offer() {
  return (
    <section class={styles.offer} aria-labelledby="offer">
      <h2 id="offer">{SIGN_IN_WORDS.offer}</h2>
      <dl>
        {SIGN_IN_WORDS.offers.map(([title, text]) => (
          <>
            <dt>{title}</dt>
            <dd>{text}</dd>
          </>
        ))}
      </dl>
    </section>
  );
}
