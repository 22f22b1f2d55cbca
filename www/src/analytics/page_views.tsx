import type { Session } from "../session/session.ts";
import { ReportRoute } from "./report_route.tsx";
import "../styles/views.css";

export function PageViewsView({ session }: { session: Session }) {
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
