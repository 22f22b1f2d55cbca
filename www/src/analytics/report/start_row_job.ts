import type { Session } from "../../session/session.ts";
import { toastLoadFailure } from "../../shell/load_failure.tsx";
import { visit } from "../../shell/navigation.ts";

/** Opens the panel for a new job with a prompt, unless another project is opened meanwhile. */
export async function startRowJob(session: Session, prompt: string): Promise<void> {
  try {
    const [{ jobsOf }, { compose }] = await Promise.all([
      import("../../jobs/session_jobs.ts"),
      import("../../jobs/open_composer.ts"),
    ]);
    if (session.end.signal.aborted) return;
    compose(jobsOf(session), prompt);
    visit({ route: "jobs", jobs: { id: null } });
  } catch {
    toastLoadFailure("Couldn’t open a new job.");
  }
}
