import { Dialog } from "./dialog.tsx";
import { isOnline } from "./network.ts";
import { toast } from "./toast.ts";

const NEW_VERSION = "A new version may be available.";

export const reload = () => location.reload();

/** Shown when the code of a part of the page could not be loaded. */
export function LoadFailure() {
  if (!isOnline.value) {
    return (
      <div class="problem" role="alert">
        <p class="problem-title">You’re offline</p>
        <p>We’ll load this when you’re back.</p>
      </div>
    );
  }
  return (
    <div class="problem" role="alert">
      <p class="problem-title">This part of the page didn’t load</p>
      <p>{NEW_VERSION}</p>
      <button type="button" onClick={reload}>
        Reload
      </button>
    </div>
  );
}

/** Shown when the code of a dialog could not be loaded. */
export function DialogLoadFailure({ onClose }: { onClose(): void }) {
  return (
    <Dialog open title="Couldn’t open this" onClose={onClose}>
      <LoadFailure />
    </Dialog>
  );
}

/** Shows a message that an action failed because its code could not be loaded. */
export function toastLoadFailure(text: string): void {
  if (!isOnline.peek()) toast({ text: `${text} You’re offline.` });
  else toast({ text: `${text} ${NEW_VERSION}`, action: { label: "Reload", run: reload } });
}
