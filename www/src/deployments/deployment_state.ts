import type { Deployment, ListedDeployment } from "quillgate";
import type { State } from "../live/state.ts";
import { spell } from "../shell/wording.ts";
import { STATE_WORDS } from "./state_words.ts";

/** The properties that decide the state. */
export type Outcome = Pick<ListedDeployment, "status" | "isLive">;

/** Returns the state in words. Spells an unknown status: "Needs review" for "needs_review". */
export function deploymentState(deployment: Outcome | null): State {
  const status: Deployment["status"] = deployment?.status ?? null;
  switch (status) {
    case "queued":
      return { tone: "working", word: STATE_WORDS.queued };
    case "in_progress":
      return { tone: "working", word: STATE_WORDS.inProgress };
    case "success":
      return { tone: "done", word: STATE_WORDS.live };
    case "failure":
      return deployment?.isLive === true
        ? { tone: "warning", word: STATE_WORDS.warning }
        : { tone: "failed", word: STATE_WORDS.failed };
    case null:
      return { tone: "unknown", word: STATE_WORDS.unknown };
    default:
      return { tone: "unknown", word: spell(String(status)) };
  }
}

export function hasEnded({ status }: Pick<Outcome, "status">): boolean {
  return status === "success" || status === "failure";
}

/** Returns whether a deployment is queued or in progress. */
export function isRunning({ status }: Pick<Outcome, "status">): boolean {
  return status === "queued" || status === "in_progress";
}

/** Returns "Site", or the branch of a preview. */
export function targetOf({ branch }: Pick<ListedDeployment, "branch">): string {
  return branch === null ? STATE_WORDS.site : STATE_WORDS.previewOf(branch);
}
