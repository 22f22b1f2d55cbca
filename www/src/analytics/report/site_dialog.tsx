import { useSignal } from "@preact/signals";
import type { Session } from "../../session/session.ts";
import * as dialog from "../../shell/dialog.module.css";
import { Dialog } from "../../shell/dialog.tsx";
import { toast } from "../../shell/toast.ts";
import { chooseSite, siteOf } from "../cache/site_address.ts";
import { readSite } from "../rows/page_link.ts";

interface SiteDialogProps {
  session: Session;
  onClose(): void;
}

/** Asks for the site's address, so that paths can link to its pages. */
export function SiteDialog({ session, onClose }: SiteDialogProps) {
  const typed = useSignal(siteOf(session) ?? "");
  const complaint = useSignal<string | null>(null);

  function apply(event: Event) {
    event.preventDefault();
    const reading = readSite(typed.value);
    if (!reading.ok) {
      complaint.value = reading.reason;
      return;
    }
    if (chooseSite(session, reading.site) !== "stored") {
      toast({
        text: "Your browser couldn’t save the site URL. It lasts until you reload the page.",
      });
    }
    onClose();
  }

  return (
    <Dialog open title="Set site URL" onClose={onClose}>
      <form class={dialog.form} onSubmit={apply} noValidate>
        <div class="field">
          <label for="site">URL of your documentation site</label>
          <input
            id="site"
            type="url"
            autocomplete="off"
            placeholder="https://docs.example.com"
            value={typed.value}
            aria-describedby="site-hint"
            onInput={(event) => {
              typed.value = event.currentTarget.value;
            }}
          />
          <p id="site-hint" class="hint">
            Saved in this tab only.
          </p>
          <p class="field-problem" role="alert">
            {complaint.value}
          </p>
        </div>
        <div class="actions">
          <button type="submit" class="primary">
            Save site URL
          </button>
          {siteOf(session) !== null && (
            <button
              type="button"
              onClick={() => {
                chooseSite(session, null);
                onClose();
              }}
            >
              Remove site URL
            </button>
          )}
        </div>
      </form>
    </Dialog>
  );
}
