import type { Session } from "../session/session.ts";
import { ReportRoute } from "./report_route.tsx";
import "../styles/views.css";

export function PageViewsView({ session }: { session: Session }) {
  return <ReportRoute session={session} name="views" lost="it cannot read page views" />;
}

export function Visitors({ session }: { session: Session }) {
  return <ReportRoute session={session} name="visitors" lost="it cannot read visitors" />;
}

export function Feedback({ session }: { session: Session }) {
  return <ReportRoute session={session} name="feedback" lost="it cannot read feedback" />;
}

export function Searches({ session }: { session: Session }) {
  return <ReportRoute session={session} name="searches" lost="it cannot read searches" />;
}
