import { useSignal } from "@preact/signals";
import { allows } from "./access_token.ts";
import { JobCard } from "./job_card.tsx";
import { ProjectJobsList, showProjectJobs } from "./project_jobs_list.tsx";
import { PromptBox } from "./prompt_box.tsx";
import type { Limit } from "./rate_limit.ts";
import { ScopeNotice } from "./scope_notice.tsx";
import type { Session } from "./session.ts";
import { limitNote } from "./wording.ts";

const PROMPT_BOX = "prompt";
const LIST_TITLE = "jobs-of-this-tab";

export function Jobs({ session }: { session: Session }) {
  const { jobs, claims } = session;
  const mayRead = allows(claims, "jobs:read");
  return (
    <div class="jobs">
      <section class="composer" aria-labelledby="new-job">
        <h2 id="new-job">New job</h2>
        {allows(claims, "jobs:create") ? (
          <PromptBox
            id={PROMPT_BOX}
            label="Prompt"
            hint={`Name the pages, say what should change and why. ${limitSentence(jobs.newJobsLeft.value)}`}
            placeholder="Add a section on token rotation to the authentication guide, with an example request."
            rows={7}
            draft={jobs.newPrompt}
            sendLabel="Start job"
            emphasis="main"
            doubt={DOUBT}
            submit={(prompt, how) => jobs.create(prompt, how)}
          />
        ) : (
          <ScopeNotice scope="jobs:create" lost="it cannot start jobs" />
        )}
        {mayRead && <FollowForm onFollow={(id) => jobs.follow(id)} />}
      </section>
      <div class="job-lists">
        <section class="job-list" aria-labelledby={LIST_TITLE}>
          <h2 id={LIST_TITLE} tabIndex={-1}>
            Jobs in this tab
          </h2>
          {!mayRead && <ScopeNotice scope="jobs:read" lost="it cannot follow jobs" />}
          <JobCards session={session} />
        </section>
        <ProjectJobsList session={session} />
      </div>
    </div>
  );
}

const DOUBT = {
  title: "Nobody knows whether this job was started",
  advice:
    "It may be at work already. Look before you send it again: in the jobs of the project, " +
    "reloaded, and in the platform’s dashboard, since a job whose answer was lost is only there.",
  look: { label: "Go to the jobs of the project", onLook: showProjectJobs },
};

function limitSentence(limit: Limit | null): string {
  return limit === null ? "At most 100 jobs an hour." : limitNote(limit, "job");
}

function JobCards({ session }: { session: Session }) {
  const { jobs, claims } = session;
  const mayRead = allows(claims, "jobs:read");
  const entries = jobs.entries.value;
  if (entries.length === 0) {
    return (
      <div class="empty">
        <p class="empty-title">No jobs yet</p>
        <p>
          Write your first prompt{mayRead && ", or open one of the project’s jobs below"}. The agent
          works in the background; its progress and its pull request appear here.
        </p>
      </div>
    );
  }

  function runAgain(prompt: string) {
    jobs.newPrompt.edit(prompt);
    document.getElementById(PROMPT_BOX)?.focus();
  }

  function remove(id: string) {
    jobs.remove(id);
    // The button that had the focus is gone.
    document.getElementById(LIST_TITLE)?.focus();
  }

  return (
    <>
      {entries.map((entry, index) => (
        <JobCard
          key={entry.id}
          entry={entry}
          book={jobs}
          newest={index === 0}
          mayWrite={allows(claims, "jobs:create")}
          onRunAgain={runAgain}
          onRemove={() => remove(entry.id)}
        />
      ))}
      <p class="hint">
        Prompts and follow-ups are kept in this tab until you sign out or close it. Jobs that were
        not started through this gateway are found by their id only.
      </p>
    </>
  );
}

function FollowForm({ onFollow }: { onFollow(id: string): void }) {
  const id = useSignal("");
  return (
    <details class="follow">
      <summary>Follow a job by its id</summary>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const wanted = id.value.trim();
          if (wanted === "") return;
          onFollow(wanted);
          id.value = "";
        }}
      >
        <label for="job-id">Job id</label>
        <div class="joined">
          <input
            id="job-id"
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            value={id.value}
            onInput={(event) => {
              id.value = event.currentTarget.value;
            }}
          />
          <button type="submit">Follow</button>
        </div>
      </form>
    </details>
  );
}
