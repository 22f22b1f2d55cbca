import { useSignalEffect } from "@preact/signals";
import { useRef } from "preact/hooks";
import { readPullRequest } from "quillgate/values";
import type { DoubtWords } from "../sending/doubt_panel.tsx";
import type { Draft, SendOptions } from "../sending/draft.ts";
import type { Address } from "../shell/address.ts";
import { announce } from "../shell/announcer.tsx";
import { HOUR_MS } from "../shell/durations.ts";
import { IconButton } from "../shell/icon_button.tsx";
import { Cross } from "../shell/icons.tsx";
import { address, visit } from "../shell/navigation.ts";
import type { Limit } from "../shell/rate_limit.ts";
import { toast } from "../shell/toast.ts";
import { count, counted, duration } from "../shell/wording.ts";
import { focusFirstBlank } from "./blanks.ts";
import * as styles from "./composer.module.css";
import { COMPOSER_WORDS } from "./composer_words.ts";
import type { JobBook } from "./job_book.ts";
import { titleOf } from "./job_state.ts";
import { focusNewJob } from "./new_job_button.tsx";
import { promptWanted, tellOfTooMany } from "./open_composer.ts";
import { PromptBox } from "./prompt_box.tsx";
import { TemplateMenu } from "./template_menu.tsx";
import type { Template } from "./templates.ts";

const PROMPT_BOX = "prompt";
const DASHBOARD = "https://app.mintlify.com/";

interface StartedJob {
  id: string;
  title: string;
  /** The address from which the person sent the prompt. */
  from: Address;
}

/** The panel for a new job. Closing it keeps the draft. */
export function Composer({ book }: { book: JobBook }) {
  const { drafts, templates } = book;
  const draft = drafts.current.value;
  const box = useRef<HTMLTextAreaElement>(null);
  const started = useRef<StartedJob | null>(null);
  useSignalEffect(() => {
    if (!promptWanted.value) return;
    promptWanted.value = false;
    requestAnimationFrame(() => focusFirstBlank(box.current));
  });

  function close() {
    book.setComposing(false);
    focusNewJob();
  }

  function use({ text }: Template) {
    if (drafts.write(text)) promptWanted.value = true;
    else tellOfTooMany();
  }

  async function create(prompt: string, how: SendOptions) {
    const from = address.peek();
    const id = await book.create(prompt, how);
    started.current = { id, title: titleOf(prompt), from };
  }

  /**
   * Opens the started job. If another address or draft is open, or reading is forbidden, shows a
   * toast.
   */
  function finish() {
    const isOpen = drafts.current.peek() === draft;
    drafts.leaveSent(draft);
    if (isOpen) book.setComposing(false);
    if (started.current === null) return;
    const { id, title, from } = started.current;
    const text = COMPOSER_WORDS.started(title);
    const open = () => visit({ route: "jobs", project: book.projectId, jobs: { id } });
    if (!book.mayRead) {
      toast({ text });
      if (isOpen) focusNewJob();
    } else if (isOpen && address.peek() === from) {
      announce(text);
      open();
    } else {
      toast({ text, action: { label: COMPOSER_WORDS.open, run: open } });
    }
  }

  /** Reopens the draft if the panel was closed. If the panel shows another draft, shows a toast. */
  function showProblem() {
    const open = () => {
      drafts.open(draft);
      book.setComposing(true);
    };
    const problem = draft.problem.peek();
    const isOtherOpen = book.composing.peek() && drafts.current.peek() !== draft;
    if (problem === null || !isOtherOpen) return open();
    const text = COMPOSER_WORDS.notStarted(titleOf(draft.text.peek()), problem.title);
    toast({ text, action: { label: COMPOSER_WORDS.open, run: open } });
  }

  return (
    <section
      class={`stack ${styles.composer} card`}
      aria-labelledby="new-job"
      onKeyDown={(event) => {
        if (event.key === "Escape") close();
      }}
    >
      <div class={styles.head}>
        <h2 id="new-job">{COMPOSER_WORDS.title}</h2>
        <TemplateMenu shelf={templates} text={draft.text.value} onUse={use} />
        <IconButton label={COMPOSER_WORDS.close} icon={Cross} onClick={close} />
      </div>
      <DraftTabs book={book} />
      <PromptBox
        key={draft.key}
        id={PROMPT_BOX}
        label={COMPOSER_WORDS.prompt}
        hint={COMPOSER_WORDS.hint(limitSentence(book.newJobsLeft.value))}
        placeholder={COMPOSER_WORDS.example}
        rows={7}
        draft={draft}
        sendLabel={COMPOSER_WORDS.start}
        emphasis="main"
        doubt={doubtWords(book)}
        submit={create}
        send={(submit) => drafts.send(draft, submit)}
        onSent={finish}
        onKept={showProblem}
        box={box}
      >
        <DraftActions book={book} draft={draft} />
      </PromptBox>
      {!draft.isRefused.value && <p class="hint">{COMPOSER_WORDS.privacy}</p>}
    </section>
  );
}

function DraftTabs({ book: { drafts } }: { book: JobBook }) {
  const shown = drafts.shown.value;
  const current = drafts.current.value;
  if (shown.length < 2) return null;
  return (
    <ul class="actions" aria-label={COMPOSER_WORDS.drafts}>
      {shown.map((draft) => (
        <li key={draft.key}>
          <button
            type="button"
            class={styles.draft}
            aria-pressed={draft === current}
            onClick={() => drafts.open(draft)}
          >
            {titleOf(draft.text.value) || COMPOSER_WORDS.emptyDraft}
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
    toast({
      text: COMPOSER_WORDS.discarded,
      action: { label: COMPOSER_WORDS.undo, run: undo, isUndo: true },
    });
    promptWanted.value = true;
  }

  return (
    <span class={styles.draftActions}>
      <button type="button" class="quiet" onClick={startEmpty}>
        {COMPOSER_WORDS.newDraft}
      </button>
      <button type="button" class="quiet" onClick={discard}>
        {COMPOSER_WORDS.discard}
      </button>
    </span>
  );
}

function doubtWords({ list }: JobBook): DoubtWords {
  const jobs = list.listing.value?.items ?? [];
  const lists = jobs.flatMap(({ prLink }) => {
    const { noun, repository, listHref } = readPullRequest(prLink) ?? {};
    if (!noun || !repository || !listHref) return [];
    return [{ label: COMPOSER_WORDS.pullRequests(noun, repository), href: listHref }];
  });
  return {
    title: COMPOSER_WORDS.doubt,
    advice: COMPOSER_WORDS.doubtHint,
    places: [{ label: COMPOSER_WORDS.dashboard, href: DASHBOARD }, ...lists.slice(0, 1)],
  };
}

function limitSentence(limit: Limit | null): string {
  if (limit === null) return COMPOSER_WORDS.usualLimit;
  const { left, quota, window } = limit;
  const span =
    window === HOUR_MS ? COMPOSER_WORDS.thisHour : COMPOSER_WORDS.every(duration(window));
  return COMPOSER_WORDS.left(count(left), counted(quota, "job"), span);
}
