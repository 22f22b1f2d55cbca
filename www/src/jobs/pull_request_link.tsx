import type { PullRequest } from "quillgate/values";
import * as styles from "../live/live_rows.module.css";
import { External } from "../shell/icons.tsx";
import { LIST_WORDS } from "./words.ts";

/** Links to a pull request, unless its address is unsafe. */
export function PullRequestLink({ request: { href, name, noun } }: { request: PullRequest }) {
  if (href === null) {
    return <p class={`hint ${styles.link}`}>{LIST_WORDS.unsafeLink}</p>;
  }
  return (
    <a class={styles.link} href={href} target="_blank" rel="noopener">
      <span>
        <span class="visually-hidden">{LIST_WORDS.pullRequest(noun)} </span>
        {name}
      </span>
      <External />
    </a>
  );
}
