import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect } from "preact/hooks";
import { currentExport } from "./analytics/export/current_export.ts";
import * as styles from "./app.module.css";
import { ROUTE_CODE, type RouteComponent } from "./route_code.ts";
import { RouteLinks, routeStart } from "./route_links.tsx";
import { allows, type Claims } from "./session/claims.ts";
import { allowedRoutes, type RouteScreen, screenOf } from "./session/routes.ts";
import { phase, type Session, session, takeUpSession } from "./session/session.ts";
import { generalCommands, projectCommands } from "./session/session_commands.ts";
import { SessionBar } from "./session/session_menu.tsx";
import { SESSION_WORDS } from "./session/words.ts";
import { Announcer } from "./shell/announcer.tsx";
import { closePalette, paletteOpen, registerCommands } from "./shell/commands.ts";
import { defer, deferDialog } from "./shell/deferred.tsx";
import { Heading } from "./shell/heading.tsx";
import { Logo } from "./shell/icons.tsx";
import { closeKeys, GENERAL, keyListOpen, registerKeys } from "./shell/keys.ts";
import { Link } from "./shell/link.tsx";
import { address, visit } from "./shell/navigation.ts";
import { type PageTitle, pageTitle } from "./shell/page_title.ts";
import { ProblemPanel } from "./shell/problem_panel.tsx";
import type { Route } from "./shell/route_names.ts";
import { titleMark } from "./shell/title_mark.ts";
import { shown } from "./shell/toast.ts";

const UNOFFICIAL = "Unofficial. Not affiliated with Mintlify.";

/** The component of each route. It loads its code on first render. */
const ROUTE_COMPONENTS = Object.fromEntries(
  Object.entries(ROUTE_CODE).map(([route, load]) => [route, defer(load)]),
) as Record<Route, RouteComponent>;

const loadSignIn = async () => (await import("./session/sign_in.tsx")).SignIn;
const SignIn = defer(loadSignIn, () => <div class={styles.signInSpace} />);
const loadDeadEnds = () => import("./session/dead_ends.tsx");
const NoProject = defer(async () => (await loadDeadEnds()).NoProject);
const RouteNotAllowed = defer(async () => (await loadDeadEnds()).RouteNotAllowed);
const Toasts = defer(async () => (await import("./shell/toasts.tsx")).Toasts);
const RunningExport = defer(
  async () => (await import("./analytics/export/export_files.tsx")).RunningExport,
);
const Palette = deferDialog(async () => (await import("./shell/palette.tsx")).Palette);
const KeyList = deferDialog(async () => (await import("./shell/key_list.tsx")).KeyList);

/** Routes other than jobs wait this long before they follow jobs, to keep their first load fast. */
const FOLLOW_AFTER_MS = 3000;
/** The delay before a retry if the code that follows jobs fails to load. */
const FOLLOW_AGAIN_MS = 30_000;

export function App() {
  const current = phase.value;
  const claims = current.name === "signed in" ? current.claims : null;
  return (
    <>
      <a class={styles.skipLink} href="#main">
        Skip to content
      </a>
      <header class={styles.masthead}>
        <div class={styles.mastheadInner}>
          <p class={styles.brand}>
            <Logo />
            <span class={styles.brandName}>Quillgate</span>
          </p>
          {claims && <RouteLinks claims={claims} />}
          {claims && <SessionBar claims={claims} />}
        </div>
        {currentExport.value && <RunningExport current={currentExport.value} />}
      </header>
      <main
        id="main"
        tabIndex={-1}
        class={`stack ${styles.main} ${current.name === "checking" || claims ? styles.tall : ""}`}
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
      <footer class={styles.footer}>
        <p>{UNOFFICIAL}</p>
      </footer>
      {shown.value.length > 0 && <Toasts />}
      {keyListOpen.value && <KeyList onClose={closeKeys} />}
      {claims && paletteOpen.value && <Palette onClose={closePalette} />}
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
          run: () => visit(routeStart(id)),
        })),
      ),
    [claims],
  );
  useLayoutEffect(() => {
    const stops = [
      registerCommands(SESSION_WORDS.projects, () => projectCommands(claims)),
      registerCommands(GENERAL, generalCommands),
    ];
    return () => {
      for (const stop of stops) stop();
      closePalette();
    };
  }, [claims]);
  useEffect(() => followJobs(current, claims), [current, claims]);
  const isSearching = paletteOpen.value;
  useEffect(() => {
    if (isSearching && current !== null) listSavedViews(current);
  }, [isSearching, current]);
  return (
    <Screen key={screen.id} title={screen.title} isInNavigation>
      <CurrentRoute claims={claims} screen={screen} allowed={routes.includes(screen)} />
    </Screen>
  );
}

/** Follows jobs on every route, to announce when they finish. */
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

/** Adds the saved views to the command palette. After a failure, the next opening retries. */
async function listSavedViews(current: Session): Promise<void> {
  const loaded = await import("./saved_views/session_shelf.ts").catch(() => null);
  if (!current.end.signal.aborted) loaded?.savedViewsOf(current);
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
  const Route = ROUTE_COMPONENTS[screen.id];
  return <Route key={`${screen.id} ${current.projectId}`} session={current} />;
}

interface ScreenProps {
  title: string;
  /** Whether the navigation marks the route. Phones then hide the route's own heading. */
  isInNavigation?: boolean;
  children: ComponentChildren;
}

/** A route below its heading. Also sets the title of the browser's tab. */
function Screen({ title, isInNavigation = false, children }: ScreenProps) {
  const mark = titleMark.value;
  const own = pageTitle.value;
  const tab = own?.tab ?? title;
  useEffect(() => {
    document.title = `${mark}${tab} · Quillgate`;
  }, [tab, mark]);
  return (
    <>
      <div class={`${styles.head} ${isInNavigation && !own ? styles.knownHead : ""}`}>
        {own && <Breadcrumb parent={own.parent} />}
        <Heading text={own?.heading ?? title} />
      </div>
      {children}
    </>
  );
}

function Breadcrumb({ parent: { label, change } }: Pick<PageTitle, "parent">) {
  return (
    <nav aria-label="Breadcrumb">
      <Link class={styles.backLink} to={change}>
        {label}
      </Link>
    </nav>
  );
}
