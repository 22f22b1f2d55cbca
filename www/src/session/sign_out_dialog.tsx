import { Dialog } from "../shell/dialog.tsx";
import { counted } from "../shell/wording.ts";
import { signOut } from "./session.ts";
import { SESSION_WORDS } from "./words.ts";

interface SignOutDialogProps {
  drafts: number;
  onClose(): void;
}

/** Asks for confirmation, because signing out deletes drafts. */
export function SignOutDialog({ drafts, onClose }: SignOutDialogProps) {
  return (
    <Dialog open title={SESSION_WORDS.signOutTitle} onClose={onClose}>
      <p>{SESSION_WORDS.signOutLoss(counted(drafts, "draft"))}</p>
      <div class="actions">
        <button type="button" class="danger" onClick={signOut}>
          {SESSION_WORDS.signOutAndDelete(counted(drafts, "draft"))}
        </button>
        <button type="button" onClick={onClose}>
          {SESSION_WORDS.cancel}
        </button>
      </div>
    </Dialog>
  );
}
