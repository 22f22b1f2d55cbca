import { useSignal } from "@preact/signals";
import { Dialog } from "../shell/dialog.tsx";
import { readSitemap } from "./read_sitemap.ts";
import { findNeverRead, type Sitemap } from "./sitemap.ts";

interface SitemapDialogProps {
  onRead(sitemap: Sitemap): void;
  onClose(): void;
}

/** Takes a sitemap from the clipboard or a file: the page asks no other host for it. */
export function SitemapDialog({ onRead, onClose }: SitemapDialogProps) {
  const pasted = useSignal("");
  const complaint = useSignal<string | null>(null);

  function read(text: string) {
    const reading = readSitemap(text);
    if (!reading.ok) {
      complaint.value = reading.reason;
      return;
    }
    const { paths, origin } = reading;
    onRead({ origin, findNeverRead: (rows) => findNeverRead(paths, rows) });
    onClose();
  }

  async function readFile(input: HTMLInputElement) {
    const files = [...(input.files ?? [])];
    if (files.length === 0) return;
    try {
      const texts = await Promise.all(files.map((file) => file.text()));
      read(texts.join("\n"));
    } catch {
      complaint.value = "This file could not be read. Choose it again, or paste what is in it.";
    }
  }

  return (
    <Dialog open title="Which pages were never read?" onClose={onClose}>
      <form
        class="dialog-form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          read(pasted.value);
        }}
      >
        <p>
          Add the site’s sitemap, or all of them: pages in it without a view are listed. It stays on
          this page, and no other host is asked.
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
          <label for="sitemap">Or paste it: XML, or one address on each line</label>
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
            List pages never read
          </button>
        </div>
      </form>
    </Dialog>
  );
}
