import { CopyButton } from "../shell/copy_button.tsx";
import { OutsideLink, safeHref } from "../shell/outside_link.tsx";
import { hasEnded, type Outcome } from "./deployment_state.ts";
import * as styles from "./preview_link.module.css";
import { DEPLOYMENT_WORDS } from "./words.ts";

interface PreviewLinkProps {
  preview: Outcome & { previewUrl: string | null };
  /** Whether the link is the main action of the page. */
  isMain?: boolean;
}

/** Links to a preview, with a hint about when the link works. */
export function PreviewLink({ preview, isMain = false }: PreviewLinkProps) {
  if (preview.previewUrl === null) return null;
  const href = safeHref(preview.previewUrl);
  const isLive = preview.status === "success" || preview.isLive === true;
  if (href === null) {
    return (
      <p class="hint">
        {DEPLOYMENT_WORDS.unsafeLink}: <code>{preview.previewUrl}</code>
      </p>
    );
  }
  return (
    <div class={`stack ${styles.preview}`}>
      <div class="actions">
        <OutsideLink class={`button ${isMain && isLive ? "primary" : ""}`} href={href}>
          {DEPLOYMENT_WORDS.openPreview}
        </OutsideLink>
        <CopyButton label={DEPLOYMENT_WORDS.copyPreviewLink} text={href} />
      </div>
      <p class={`hint ${styles.url}`} translate={false}>
        {new URL(href).host}
      </p>
      {isLive && <p class="hint">{DEPLOYMENT_WORDS.whenReady}</p>}
      {!hasEnded(preview) && <p class="hint">{DEPLOYMENT_WORDS.whileBuilding}</p>}
    </div>
  );
}
