import type { Session } from "../session/session.ts";
import { visit } from "../shell/navigation.ts";
import { toast } from "../shell/toast.ts";

/** Opens the panel for a new job with a prompt. */
export async function startRowJob(session: Session, prompt: string): Promise<void> {
  try {
    const [{ jobsOf }, { compose }] = await Promise.all([
      import("../jobs/session_jobs.ts"),
      import("../jobs/open_composer.ts"),
    ]);
    compose(jobsOf(session), prompt);
    visit({ route: "jobs", jobs: { id: null } });
  } catch {
    toast({ text: "Couldn’t open a new job. Check your connection, then try again." });
  }
}
