import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Draft, SendOptions } from "../sending/draft.ts";
import type { Session } from "../session/session.ts";
import { Dialog } from "../shell/dialog.tsx";
import { visit } from "../shell/navigation.ts";
import { toast } from "../shell/toast.ts";
import type { Started } from "./deployment_book.ts";
import { deploymentsOf } from "./session_deployments.ts";
import { StartForm, tellStart } from "./start_form.tsx";
import { START_WORDS } from "./words.ts";

interface StartDialogProps {
  session: Session;
  onClose(): void;
}

/**
 * Opens what was started, or offers it if the dialog was closed meanwhile. The next dialog does not
 * show the problem of this one, unless it could start something twice.
 */
function useFinish(
  { session: { projectId: project, data }, onClose }: StartDialogProps,
  draft: Draft,
): (started: Started, text: string) => void {
  const isOpen = useRef(true);
  useEffect(
    () => () => {
      isOpen.current = false;
      if (!draft.sending.peek()) return draft.putAside();
      const text = draft.text.peek();
      // Nothing else shows the problem of a request that ends after its dialog.
      const stop = draft.sending.subscribe((isSending) => {
        if (isSending) return;
        stop();
        const problem = draft.problem.peek();
        if (problem === null || data.forgotten.aborted) return;
        const describe = draft.hasSent(text) ? START_WORDS.mayHaveStarted : START_WORDS.failed;
        toast({ text: describe(problem.title) });
      });
    },
    [],
  );
  return (started, text) => {
    const { statusId: id, isReplay } = started;
    const open = () => visit({ route: "deployments", project, deployments: { id } });
    if (isOpen.current) {
      onClose();
      tellStart(started, text);
      open();
    } else {
      const action = { label: START_WORDS.open, run: open };
      toast({ text: isReplay ? START_WORDS.replayed : text, action });
    }
  };
}

/** Asks for confirmation, because readers see the result. */
export function DeployDialog(props: StartDialogProps) {
  const { session, onClose } = props;
  const book = deploymentsOf(session);
  const draft = book.draft("site");
  const finish = useFinish(props, draft);
  const started = useRef<Started | null>(null);

  async function deploy(_text: string, how: SendOptions) {
    started.current = await book.deploy(how);
  }

  return (
    <Dialog open title={START_WORDS.deployTitle} onClose={onClose}>
      <StartForm
        draft={draft}
        startLabel={START_WORDS.deploy}
        isMain
        read={() => "site"}
        submit={deploy}
        onStarted={() => started.current && finish(started.current, START_WORDS.deployed)}
        beside={
          <button type="button" onClick={onClose}>
            {START_WORDS.cancel}
          </button>
        }
      >
        <p>{START_WORDS.deployHint(session.projectId)}</p>
      </StartForm>
    </Dialog>
  );
}

const BRANCH = "preview-branch";

export function PreviewDialog(props: StartDialogProps) {
  const { session, onClose } = props;
  const book = deploymentsOf(session);
  const draft = book.draft("preview");
  const finish = useFinish(props, draft);
  const started = useRef<Started | null>(null);
  const branch = useSignal(draft.text.peek());
  const complaint = useSignal("");
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);

  function read(): string | null {
    const name = branch.peek().trim();
    if (name !== "") return name;
    complaint.value = START_WORDS.branchMissing;
    input.current?.focus();
    return null;
  }

  async function create(name: string, how: SendOptions) {
    started.current = await book.createPreview(name, how);
  }

  return (
    <Dialog open title={START_WORDS.previewTitle} onClose={onClose}>
      <StartForm
        draft={draft}
        startLabel={START_WORDS.createPreview}
        isMain
        read={read}
        submit={create}
        onStarted={() =>
          started.current && finish(started.current, START_WORDS.previewOf(branch.peek().trim()))
        }
        beside={
          <button type="button" onClick={onClose}>
            {START_WORDS.cancel}
          </button>
        }
      >
        <div class="field">
          <label for={BRANCH}>{START_WORDS.branch}</label>
          <input
            ref={input}
            id={BRANCH}
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            readOnly={draft.sending.value}
            aria-describedby={`${BRANCH}-hint ${BRANCH}-complaint`}
            value={branch.value}
            onInput={({ currentTarget }) => {
              complaint.value = "";
              branch.value = currentTarget.value;
            }}
          />
          <p id={`${BRANCH}-hint`} class="hint">
            {START_WORDS.branchHint}
          </p>
          <p id={`${BRANCH}-complaint`} class="field-problem" role="alert">
            {complaint.value}
          </p>
        </div>
      </StartForm>
    </Dialog>
  );
}
