import type { Session } from "../session/session.ts";
import { ReportRoute } from "./report/report_route.tsx";

export function Conversations({ session }: { session: Session }) {
  return <ReportRoute session={session} name="conversations" lost="see conversations" />;
}
