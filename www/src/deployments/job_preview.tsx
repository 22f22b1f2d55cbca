import { useSignal } from "@preact/signals";
import { useEffect, useId, useRef } from "preact/hooks";
import type { ListedDeployment } from "quillgate";
import { parseInstant } from "quillgate/values";
import { StateLine } from "../live/state_line.tsx";
import { describeSpan } from "../live/time.ts";
import type { SendOptions } from "../sending/draft.ts";
import { allows } from "../session/claims.ts";
import type { Session } from "../session/session.ts";
import { now } from "../shell/clock.ts";
import { Link } from "../shell/link.tsx";
import type { Started } from "./deployment_book.ts";
import { deploymentState, isRunning } from "./deployment_state.ts";
import * as styles from "./job_preview.module.css";
import { PreviewLink } from "./preview_link.tsx";
import { deploymentsOf } from "./session_deployments.ts";
import { StartForm, tellStart } from "./start_form.tsx";
import { DEPLOYMENT_WORDS, START_WORDS } from "./words.ts";

interface JobPreviewProps {
  session: Session;
  branch: string;
}

/** The newest preview of a job's branch, and a button that creates or updates it. */
export function JobPreview({ session, branch }: JobPreviewProps) {
  const book = deploymentsOf(session);
  const heading = useId();
  // Without `deployments:read`, only the response to the start is known.
  const started = useSignal<ListedDeployment | null>(null);
  const latest = useRef<Started | null>(null);
  const own = started.value?.branch === branch ? started.value : null;
  const preview = book.previewOf(branch) ?? own;
  useEffect(() => {
    if (!book.mayRead) return;
    book.inSight.value = true;
    book.list.refresh();
    return () => {
      book.inSight.value = false;
    };
  }, [book]);
  const mayStart = allows(session.claims, "deployments:create");
  if (!mayStart && preview === null) return null;

  async function create(name: string, how: SendOptions) {
    latest.current = await book.createPreview(name, how);
  }

  function finish() {
    if (latest.current === null) return;
    const { statusId, previewUrl } = latest.current;
    started.value = {
      statusId,
      previewUrl,
      branch,
      status: null,
      isLive: null,
      summary: null,
      createdBy: null,
      createdAt: null,
      checkedAt: null,
    };
    tellStart(latest.current, START_WORDS.previewOf(branch));
  }

  return (
    <section class={`stack ${styles.preview} card`} aria-labelledby={heading}>
      <h2 id={heading}>{START_WORDS.jobPreview}</h2>
      {preview !== null && <Progress preview={preview} mayOpen={book.mayRead} />}
      {mayStart && (
        <StartForm
          draft={book.draft("branch", branch)}
          startLabel={preview === null ? START_WORDS.previewBranch : START_WORDS.updatePreview}
          isMain={false}
          read={() => branch}
          submit={create}
          onStarted={finish}
        />
      )}
    </section>
  );
}

function Progress({ preview, mayOpen }: { preview: ListedDeployment; mayOpen: boolean }) {
  const { statusId: id, status, summary } = preview;
  const createdAt = parseInstant(preview.createdAt);
  const span = { startedAt: createdAt, finishedAt: null };
  const state = isRunning(preview) ? "running" : "other";
  return (
    <>
      <div class="toolbar">
        <StateLine
          state={deploymentState(preview)}
          time={describeSpan({ state, createdAt }, span, now.value)}
        />
        {mayOpen && (
          <p class="hint">
            <Link to={{ route: "deployments", deployments: { id } }}>
              {DEPLOYMENT_WORDS.details}
            </Link>
          </p>
        )}
      </div>
      {status === "failure" && summary !== null && <p>{summary}</p>}
      <PreviewLink preview={preview} />
    </>
  );
}
