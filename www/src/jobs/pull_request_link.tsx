import { External } from "../shell/icons.tsx";
import * as styles from "./job_rows.module.css";
import { pullRequest } from "./job_state.ts";
import { LIST_WORDS } from "./words.ts";

/** Links to a pull request, unless its address is unsafe. */
export function PullRequestLink({ link }: { link: string }) {
  const request = pullRequest(link);
  if (request === null) {
    return <p class={`hint ${styles.link}`}>{LIST_WORDS.unsafeLink}</p>;
  }
  return (
    <a class={styles.link} href={request.href} target="_blank" rel="noopener">
      <span>
        <span class="visually-hidden">{LIST_WORDS.pullRequest} </span>
        {request.name}
      </span>
      <External />
    </a>
  );
}
