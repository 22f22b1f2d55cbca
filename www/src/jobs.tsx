import { useSignal } from "@preact/signals";
import { allows } from "./access_token.ts";
import { JobCard } from "./job_card.tsx";
import { PromptBox } from "./prompt_box.tsx";
import { ScopeNotice } from "./scope_notice.tsx";
import type { Session } from "./session.ts";

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
            hint="Name the pages, say what should change and why. At most 100 jobs an hour."
            placeholder="Add a section on token rotation to the authentication guide, with an example request."
            rows={7}
            draft={jobs.newPrompt}
            sendLabel="Start job"
            emphasis="main"
            submit={(prompt, key) => jobs.create(prompt, key)}
          />
        ) : (
          <ScopeNotice scope="jobs:create" lost="it cannot start jobs" />
        )}
        {mayRead && <FollowForm onFollow={(id) => jobs.follow(id)} />}
      </section>
      <section class="job-list" aria-labelledby={LIST_TITLE}>
        <h2 id={LIST_TITLE} tabIndex={-1}>
          Jobs of this tab
        </h2>
        {!mayRead && <ScopeNotice scope="jobs:read" lost="it cannot follow jobs" />}
        <JobCards session={session} />
      </section>
    </div>
  );
}

function JobCards({ session }: { session: Session }) {
  const { jobs } = session;
  const entries = jobs.entries.value;
  if (entries.length === 0) {
    return (
      <div class="empty">
        <p class="empty-title">No jobs yet</p>
        <p>
          Write your first prompt. The agent works in the background; its progress and its pull
          request appear here.
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
          mayWrite={allows(session.claims, "jobs:create")}
          onRunAgain={runAgain}
          onRemove={() => remove(entry.id)}
        />
      ))}
      <p class="hint">
        The platform offers no list of jobs: these are kept in this tab until you sign out or close
        it. Note a job’s id to find it again.
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
