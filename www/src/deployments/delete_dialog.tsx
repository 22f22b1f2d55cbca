import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Session } from "../session/session.ts";
import { currentTime } from "../shell/clock_skew.ts";
import { Dialog } from "../shell/dialog.tsx";
import { visit } from "../shell/navigation.ts";
import { describeProblem, type Problem } from "../shell/problem.ts";
import { ProblemPanel } from "../shell/problem_panel.tsx";
import { toast } from "../shell/toast.ts";
import { deploymentsOf } from "./session_deployments.ts";
import { DEPLOYMENT_WORDS } from "./words.ts";

interface DeleteDialogProps {
  session: Session;
  id: string;
  onClose(): void;
}

/** Asks an operator for confirmation, because the record can't be restored. */
export function DeleteDialog({ session, id, onClose }: DeleteDialogProps) {
  const isBusy = useSignal(false);
  const problem = useSignal<Problem | null>(null);
  const isOpen = useRef(true);
  useEffect(
    () => () => {
      isOpen.current = false;
    },
    [],
  );

  async function remove() {
    if (isBusy.peek()) return;
    isBusy.value = true;
    problem.value = null;
    try {
      await deploymentsOf(session).deleteRecord(id);
      toast({ text: DEPLOYMENT_WORDS.deleted });
      if (!isOpen.current) return;
      onClose();
      visit({ deployments: { id: null } });
    } catch (error) {
      if (session.end.signal.aborted) return;
      const found = describeProblem(error, currentTime());
      if (isOpen.current) problem.value = found;
      else toast({ text: found.title });
    } finally {
      isBusy.value = false;
    }
  }

  return (
    <Dialog open title={DEPLOYMENT_WORDS.deleteTitle} onClose={onClose}>
      <p>{DEPLOYMENT_WORDS.deleteHint}</p>
      {problem.value !== null && <ProblemPanel problem={problem.value} onRetry={remove} />}
      <div class="actions">
        <button type="button" class="danger" aria-disabled={isBusy.value} onClick={remove}>
          {DEPLOYMENT_WORDS.deleteRecord}
        </button>
        <button type="button" onClick={onClose}>
          {DEPLOYMENT_WORDS.cancel}
        </button>
      </div>
    </Dialog>
  );
}
