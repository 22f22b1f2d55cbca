import { useSignalEffect } from "@preact/signals";
import { useRef } from "preact/hooks";
import { Cross } from "../shell/icons.tsx";
import { address, visit } from "../shell/navigation.ts";
import type { Limit } from "../shell/rate_limit.ts";
import { toast } from "../shell/toast.ts";
import { limitNote } from "../shell/wording.ts";
import type { DoubtWords } from "./doubt_panel.tsx";
import type { Draft } from "./draft.ts";
import type { JobBook } from "./job_book.ts";
import { pullRequestList, titleOf } from "./job_state.ts";
import { NEW_JOB_BUTTON, promptWanted, tellOfTooMany } from "./open_composer.ts";
import { PromptBox } from "./prompt_box.tsx";
import { TemplateMenu } from "./template_menu.tsx";
import { firstBlank, type Template } from "./templates.ts";

const PROMPT_BOX = "prompt";
const DASHBOARD = "https://dashboard.mintlify.com/";

/** The panel for a new job. What is written in it stays when it is closed. */
export function Composer({ book }: { book: JobBook }) {
  const { drafts, templates } = book;
  const draft = drafts.current.value;
  const box = useRef<HTMLTextAreaElement>(null);
  useSignalEffect(() => {
    if (!promptWanted.value) return;
    promptWanted.value = false;
    requestAnimationFrame(() => box.current?.focus());
  });

  function close() {
    book.setComposing(false);
    focusNewJob();
  }

  function use({ text }: Template) {
    if (!drafts.write(text)) return tellOfTooMany();
    requestAnimationFrame(() => {
      const blank = firstBlank(text);
      box.current?.focus();
      if (blank) box.current?.setSelectionRange(blank.start, blank.end);
    });
  }

  function goOn() {
    drafts.leaveSent(draft);
    book.setComposing(false);
    const started = book.justStarted.peek();
    // Who may not read jobs has no list that it could be in.
    if (book.list.listing.peek() === null) return focusNewJob();
    if (address.peek().jobs.id === null || started === null) return;
    book.justStarted.value = null;
    visit({ jobs: { id: started } });
  }

  /** The panel may have been closed in the meantime, or show another draft. */
  function showProblem() {
    drafts.open(draft);
    book.setComposing(true);
  }

  return (
    <section
      class="composer card"
      aria-labelledby="new-job"
      onKeyDown={(event) => {
        if (event.key === "Escape" && !event.isComposing) close();
      }}
    >
      <div class="composer-head">
        <h2 id="new-job">New job</h2>
        <TemplateMenu shelf={templates} text={draft.text.value} onUse={use} />
        <button type="button" class="quiet icon-button" aria-label="Close new job" onClick={close}>
          <Cross />
        </button>
      </div>
      <DraftTabs book={book} />
      <PromptBox
        key={draft.name}
        id={PROMPT_BOX}
        label="Prompt"
        hint={`Name the pages, say what should change and why. ${limitSentence(book.newJobsLeft.value)}`}
        placeholder="Add a section on token rotation to the authentication guide, with an example request."
        rows={7}
        draft={draft}
        sendLabel="Start job"
        emphasis="main"
        doubt={doubtWords(book)}
        submit={(prompt, how) => book.create(prompt, how)}
        send={(submit) => drafts.send(draft, submit)}
        onSent={goOn}
        onKept={showProblem}
        box={box}
      >
        <DraftActions book={book} draft={draft} />
      </PromptBox>
      <p class="hint">
        Drafts and the prompts that you send stay in this browser until you sign out.
      </p>
    </section>
  );
}

function focusNewJob(): void {
  requestAnimationFrame(() => document.getElementById(NEW_JOB_BUTTON)?.focus());
}

function DraftTabs({ book: { drafts } }: { book: JobBook }) {
  const shown = drafts.shown.value;
  const current = drafts.current.value;
  if (shown.length < 2) return null;
  return (
    <ul class="drafts" aria-label="Drafts">
      {shown.map((draft) => (
        <li key={draft.name}>
          <button
            type="button"
            class="draft-tab"
            aria-pressed={draft === current}
            onClick={() => drafts.open(draft)}
          >
            {titleOf(draft.text.value) || "Empty draft"}
          </button>
        </li>
      ))}
    </ul>
  );
}

function DraftActions({ book: { drafts }, draft }: { book: JobBook; draft: Draft }) {
  if (draft.isEmpty.value || draft.sending.value) return null;

  function startEmpty() {
    if (drafts.startEmpty()) promptWanted.value = true;
    else tellOfTooMany();
  }

  function discard() {
    const undo = drafts.discard(draft);
    toast({ text: "Draft discarded", action: { label: "Undo", run: undo } });
    promptWanted.value = true;
  }

  return (
    <span class="draft-actions">
      <button type="button" class="quiet" onClick={startEmpty}>
        Another draft
      </button>
      <button type="button" class="quiet" onClick={discard}>
        Discard draft
      </button>
    </span>
  );
}

function doubtWords({ list }: JobBook): DoubtWords {
  const jobs = list.listing.value?.jobs ?? [];
  const lists = jobs.map(({ prLink }) => (prLink === null ? null : pullRequestList(prLink)));
  const latest = lists.find((found) => found !== null);
  const pullRequests = latest
    ? [{ label: `Pull requests of ${latest.repository}`, href: latest.href }]
    : [];
  return {
    title: "Nobody knows whether this job was started",
    advice:
      "It may be at work already. The gateway does not know its id, so it cannot be in the list " +
      "of jobs. Look here before you send it again:",
    places: [{ label: "The platform’s dashboard", href: DASHBOARD }, ...pullRequests],
  };
}

function limitSentence(limit: Limit | null): string {
  return limit === null ? "At most 100 jobs an hour." : limitNote(limit, "job");
}
