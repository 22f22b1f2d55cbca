import { Dialog } from "../shell/dialog.tsx";
import { signOut } from "./session.ts";
import { SESSION_WORDS } from "./words.ts";

interface SignOutDialogProps {
  /** The items that signing out deletes, such as "2 drafts and 1 saved view". */
  loss: string;
  onClose(): void;
}

/** Asks for confirmation, because signing out deletes the person’s data. */
export function SignOutDialog({ loss, onClose }: SignOutDialogProps) {
  return (
    <Dialog open title={SESSION_WORDS.signOutTitle} onClose={onClose}>
      <p>{SESSION_WORDS.signOutLoss(loss)}</p>
      <div class="actions">
        <button type="button" class="danger" onClick={signOut}>
          {SESSION_WORDS.signOutAndDelete(loss)}
        </button>
        <button type="button" onClick={onClose}>
          {SESSION_WORDS.cancel}
        </button>
      </div>
    </Dialog>
  );
}
