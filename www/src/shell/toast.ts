import { signal } from "@preact/signals";
import { announce } from "./announcer.tsx";

interface Action {
  label: string;
  run(): void;
  /** Whether it undoes a change of the open project, and is removed with it. */
  isUndo?: boolean;
}

export interface Toast {
  text: string;
  action?: Action;
}

export interface ShownToast extends Toast {
  id: number;
}

export const TOASTS_ID = "toasts";

const MAX_SHOWN = 3;

export const shown = signal<readonly ShownToast[]>([]);
let lastId = 0;

/** Shows a message in a corner and announces it to screen readers. */
export function toast(message: Toast): void {
  lastId += 1;
  shown.value = [...makeRoom(shown.peek()), { ...message, id: lastId }];
  announce(message.text);
}

/** If there is no room, drops the oldest message, preferably one without an action. */
function makeRoom(all: readonly ShownToast[]): readonly ShownToast[] {
  if (all.length < MAX_SHOWN) return all;
  const plain = all.findIndex(({ action }) => action === undefined);
  return all.toSpliced(Math.max(plain, 0), 1);
}

export function clearToasts(): void {
  shown.value = [];
}

/** Removes the messages that offer to undo a change. */
export function clearUndos(): void {
  shown.value = shown.peek().filter(({ action }) => !action?.isUndo);
}
