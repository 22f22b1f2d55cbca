import { useEffect, useRef } from "preact/hooks";
import { allows } from "../session/claims.ts";
import type { Session } from "../session/session.ts";
import { defer } from "../shell/deferred.tsx";
import { focusHeading } from "../shell/heading.tsx";
import { address } from "../shell/navigation.ts";
import { ReportRoute } from "./report/report_route.tsx";

const PageRoute = defer(async () => (await import("./one_page/page_route.tsx")).PageRoute);

/** The report, or one of its pages. */
export function PageViewsView({ session }: { session: Session }) {
  const { page } = address.value.analytics;
  const isMove = useRef(false);
  useEffect(() => {
    if (page === null && isMove.current) focusHeading();
    isMove.current = true;
  }, [page]);
  if (page !== null && allows(session.claims, "analytics:read")) {
    return <PageRoute key={page} session={session} path={page} isMove={isMove.current} />;
  }
  return <ReportRoute session={session} name="views" lost="see page views" />;
}

export function Visitors({ session }: { session: Session }) {
  return <ReportRoute session={session} name="visitors" lost="see visitors" />;
}

export function Feedback({ session }: { session: Session }) {
  return <ReportRoute session={session} name="feedback" lost="see feedback" />;
}

export function Searches({ session }: { session: Session }) {
  return <ReportRoute session={session} name="searches" lost="see searches" />;
}
