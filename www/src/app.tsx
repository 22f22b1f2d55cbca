import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect } from "preact/hooks";
import { allowedRoutes, type RouteScreen, screenOf } from "./routes.ts";
import { allows, type Claims } from "./session/claims.ts";
import { phase, type Session, session, takeUpSession } from "./session/session.ts";
import { SessionBar } from "./session/session_menu.tsx";
import { Announcer } from "./shell/announcer.tsx";
import { defer } from "./shell/deferred.tsx";
import { Heading } from "./shell/heading.tsx";
import { Logo } from "./shell/icons.tsx";
import { keyListOpen, registerKeys } from "./shell/keys.ts";
import { LoadedRoute } from "./shell/loaded_route.tsx";
import { address, visit } from "./shell/navigation.ts";
import { ProblemPanel } from "./shell/problem_panel.tsx";
import { RouteLinks } from "./shell/route_links.tsx";
import { titleMark } from "./shell/title_mark.ts";
import { shown } from "./shell/toast.ts";

const UNOFFICIAL = "Unofficial: not made, run or endorsed by Mintlify.";

const loadSignIn = async () => (await import("./session/sign_in.tsx")).SignIn;
const SignIn = defer(loadSignIn, <div class="sign-in-space" />);
const loadDeadEnds = () => import("./session/dead_ends.tsx");
const NoProject = defer(async () => (await loadDeadEnds()).NoProject);
const RouteNotAllowed = defer(async () => (await loadDeadEnds()).RouteNotAllowed);
const Toasts = defer(async () => (await import("./shell/toasts.tsx")).Toasts, null, null);
const KeyList = defer(async () => (await import("./shell/key_list.tsx")).KeyList);

/** How long what is followed on other routes waits, so that it slows down none. */
const FOLLOW_AFTER_MS = 3000;
/** How long until that is tried again, where it could not be loaded. */
const FOLLOW_AGAIN_MS = 30_000;

export function App() {
  const current = phase.value;
  const claims = current.name === "signed in" ? current.claims : null;
  return (
    <>
      <a class="skip-link" href="#main">
        Skip to content
      </a>
      <header class="masthead">
        <div class="masthead-inner">
          <p class="brand">
            <Logo />
            <span class="brand-name">Quillgate</span>
          </p>
          {claims && <RouteLinks claims={claims} />}
          {claims && <SessionBar claims={claims} />}
        </div>
      </header>
      <main
        id="main"
        tabIndex={-1}
        class={current.name === "checking" || claims ? "tall" : ""}
        aria-busy={current.name === "checking"}
      >
        {claims && <SignedIn claims={claims} />}
        {current.name === "signed out" && (
          <Screen title="Sign in">
            <SignIn />
          </Screen>
        )}
        {current.name === "unreachable" && (
          <Screen title="Quillgate">
            <ProblemPanel problem={current.problem} onRetry={() => takeUpSession("on arrival")} />
          </Screen>
        )}
      </main>
      <footer class="colophon">
        <p>{UNOFFICIAL}</p>
      </footer>
      {shown.value.length > 0 && <Toasts />}
      {keyListOpen.value && <KeyList />}
      <Announcer />
    </>
  );
}

function SignedIn({ claims }: { claims: Claims }) {
  const screen = screenOf(address.value.route);
  const routes = allowedRoutes(claims);
  const current = session.value;
  useLayoutEffect(
    () =>
      registerKeys(
        "Go to",
        routes.map(({ id, title, key }) => ({
          keys: `g ${key}`,
          label: title,
          run: () => visit({ route: id }),
        })),
      ),
    [claims],
  );
  useEffect(() => followJobs(current, claims), [current, claims]);
  return (
    <Screen key={screen.id} title={screen.title}>
      <CurrentRoute claims={claims} screen={screen} allowed={routes.includes(screen)} />
    </Screen>
  );
}

/** Tells of the end of jobs on every route, without making the first wait for it. */
function followJobs(current: Session | null, claims: Claims): (() => void) | undefined {
  if (current === null || !allows(claims, "jobs:read")) return;
  let timer = setTimeout(follow, FOLLOW_AFTER_MS);
  async function follow() {
    const loaded = await import("./jobs/session_jobs.ts").catch(() => null);
    if (current === null || current.end.signal.aborted) return;
    if (loaded !== null) loaded.jobsOf(current);
    else timer = setTimeout(follow, FOLLOW_AGAIN_MS);
  }
  return () => clearTimeout(timer);
}

interface CurrentRouteProps {
  claims: Claims;
  screen: RouteScreen;
  allowed: boolean;
}

function CurrentRoute({ claims, screen, allowed }: CurrentRouteProps) {
  const current = session.value;
  if (!allowed) return <RouteNotAllowed screen={screen} routes={allowedRoutes(claims)} />;
  if (current === null) return <NoProject claims={claims} />;
  return (
    <LoadedRoute key={`${screen.id} ${current.projectId}`} screen={screen} session={current} />
  );
}

interface ScreenProps {
  title: string;
  children: ComponentChildren;
}

/** What is shown under one heading, and named by the browser's tab. */
function Screen({ title, children }: ScreenProps) {
  const mark = titleMark.value;
  useEffect(() => {
    document.title = `${mark}${title} · Quillgate`;
  }, [title, mark]);
  return (
    <>
      <Heading key={title} text={title} />
      {children}
    </>
  );
}
