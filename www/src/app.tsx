import { useEffect, useRef } from "preact/hooks";
import { Announcer } from "./announcer.tsx";
import { Logo } from "./icons.tsx";
import { Jobs } from "./jobs.tsx";
import { address } from "./navigation.ts";
import { PageViewsView } from "./page_views.tsx";
import { RouteLinks } from "./route_links.tsx";
import { session } from "./session.ts";
import { SessionMenu } from "./session_menu.tsx";
import { SignIn } from "./sign_in.tsx";

const UNOFFICIAL = "Unofficial: not made, run or endorsed by Mintlify.";

export function App() {
  const current = session.value;
  return (
    <>
      <a class="skip-link" href="#main">
        Skip to content
      </a>
      <header class="masthead">
        <div class="masthead-inner">
          <p class="brand">
            <Logo />
            Quillgate
          </p>
          {current && <RouteLinks />}
          {current && <SessionMenu session={current} />}
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        <CurrentView />
      </main>
      <footer class="colophon">
        <p>{UNOFFICIAL}</p>
      </footer>
      <Announcer />
    </>
  );
}

function CurrentView() {
  const current = session.value;
  const place = current ? address.value.view : "sign-in";
  const title = { "sign-in": "Sign in", jobs: "Agent jobs", views: "Page views" }[place];
  const working = current?.jobs.workingCount.value ?? 0;
  useEffect(() => {
    document.title = `${working > 0 ? `(${working}) ` : ""}${title} · Quillgate`;
  }, [title, working]);
  return (
    <>
      <Heading key={place} text={title} />
      {current === null && <SignIn />}
      {current !== null && place === "jobs" && <Jobs key={current.projectId} session={current} />}
      {current !== null && place === "views" && (
        <PageViewsView key={current.projectId} session={current} />
      )}
    </>
  );
}

let firstHeading = true;

/** The view's one h1. It takes the focus when the view changes, so that it is read out. */
function Heading({ text }: { text: string }) {
  const ref = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (!firstHeading) ref.current?.focus();
    firstHeading = false;
  }, []);
  return (
    <h1 ref={ref} tabIndex={-1}>
      {text}
    </h1>
  );
}
