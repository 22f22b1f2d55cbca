import { useId } from "preact/hooks";
import type { DeploymentCommit } from "quillgate";
import { cutText } from "../shell/readable_text.ts";
import { count, listed } from "../shell/wording.ts";
import * as styles from "./commit_details.module.css";
import { DEPLOYMENT_WORDS } from "./words.ts";

const MAX_MESSAGE = 5000;

/** Shows the published commit. Its message is text from the repository, never markup. */
export function CommitDetails({ commit }: { commit: DeploymentCommit }) {
  const heading = useId();
  const { sha, ref, message } = commit;
  const files = describeFiles(commit);
  if (sha === null && message === null && files === null) return null;
  return (
    <section class={`stack ${styles.commit}`} aria-labelledby={heading}>
      <h2 id={heading}>{DEPLOYMENT_WORDS.commit}</h2>
      {message !== null && (
        <p class={styles.message} translate={false}>
          {cutText(message.trim(), MAX_MESSAGE)}
        </p>
      )}
      <p class={`hint ${styles.facts}`}>
        {sha !== null && <code title={sha}>{sha.slice(0, 12)}</code>}
        {ref !== null && <span translate={false}>{ref}</span>}
        {files !== null && <span>{files}</span>}
      </p>
    </section>
  );
}

/** Returns "1 added, and 2 modified"; null if the files are unknown. */
function describeFiles({ filesChanged }: DeploymentCommit): string | null {
  if (filesChanged === null) return null;
  const { added, modified, removed } = filesChanged;
  const parts = [
    [added, DEPLOYMENT_WORDS.added],
    [modified, DEPLOYMENT_WORDS.modified],
    [removed, DEPLOYMENT_WORDS.removed],
  ] as const;
  const known = parts.flatMap(([paths, word]) =>
    paths === null || paths.length === 0 ? [] : [word(count(paths.length))],
  );
  return known.length === 0 ? null : DEPLOYMENT_WORDS.files(listed(known));
}
