import { useSignal } from "@preact/signals";
import * as dialog from "../../shell/dialog.module.css";
import { Dialog } from "../../shell/dialog.tsx";
import { readSitemap } from "../rows/read_sitemap.ts";
import type { Sitemap } from "../rows/sitemap.ts";

interface SitemapDialogProps {
  /** The address of the documentation's site; null if unknown. */
  site: string | null;
  onRead(sitemap: Sitemap): void;
  onClose(): void;
}

/** Reads a sitemap from pasted text or files. The page never requests one from another host. */
export function SitemapDialog({ site, onRead, onClose }: SitemapDialogProps) {
  const pasted = useSignal("");
  const complaint = useSignal<string | null>(null);

  function read(...texts: string[]) {
    const reading = readSitemap(texts, site);
    if (!reading.ok) {
      complaint.value = reading.reason;
      return;
    }
    onRead(reading);
    onClose();
  }

  async function readFile(input: HTMLInputElement) {
    const files = [...(input.files ?? [])];
    // The same file chosen again must be a change.
    input.value = "";
    if (files.length === 0) return;
    try {
      read(...(await Promise.all(files.map((file) => file.text()))));
    } catch {
      complaint.value = "Couldn’t read this file. Choose it again, or paste its contents.";
    }
  }

  return (
    <Dialog open title="Find unread pages" onClose={onClose}>
      <form
        class={dialog.form}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          read(pasted.value);
        }}
      >
        <p>
          Add your sitemap or llms.txt and we’ll list pages with no views. It stays in your browser.
        </p>
        <div class="field">
          <label for="sitemap-file">Sitemap files</label>
          <input
            id="sitemap-file"
            type="file"
            multiple
            accept=".xml,.txt,text/xml,application/xml,text/plain"
            onChange={(event) => readFile(event.currentTarget)}
          />
        </div>
        <div class="field">
          <label for="sitemap">Or paste XML, or one URL per line</label>
          <textarea
            id="sitemap"
            rows={6}
            spellcheck={false}
            value={pasted.value}
            onInput={(event) => {
              pasted.value = event.currentTarget.value;
            }}
          />
          <p class="field-problem" role="alert">
            {complaint.value}
          </p>
        </div>
        <div class="actions">
          <button type="submit" class="primary">
            Find unread pages
          </button>
        </div>
      </form>
    </Dialog>
  );
}
