import { External } from "../shell/icons.tsx";
import { pullRequest } from "./job_state.ts";

/** The pull request of a job, where its address is safe to open. */
export function PullRequestLink({ link }: { link: string }) {
  const request = pullRequest(link);
  if (request === null) {
    return <p class="hint ledger-link">Its pull request’s address is not safe to open.</p>;
  }
  return (
    <a class="ledger-link" href={request.href} target="_blank" rel="noopener">
      <span>
        <span class="visually-hidden">Pull request </span>
        {request.name}
      </span>
      <External />
    </a>
  );
}
