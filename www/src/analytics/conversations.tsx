import type { Session } from "../session/session.ts";
import { ReportRoute } from "./report_route.tsx";
import "../styles/views.css";
import "../styles/conversations.css";

export function Conversations({ session }: { session: Session }) {
  return <ReportRoute session={session} name="conversations" lost="see conversations" />;
}
