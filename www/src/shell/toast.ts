import { signal } from "@preact/signals";
import { announce } from "./announcer.tsx";

export interface Toast {
  text: string;
  action?: { label: string; run(): void };
}

export interface ShownToast extends Toast {
  id: number;
}

const MAX_SHOWN = 3;

/** What is shown now. */
export const shown = signal<readonly ShownToast[]>([]);
let lastId = 0;

/** Tells of something that happened elsewhere on the page, in a corner and to screen readers. */
export function toast(message: Toast): void {
  lastId += 1;
  shown.value = [...makeRoom(shown.peek()), { ...message, id: lastId }];
  announce(message.text);
}

/** What only tells something gives way before what can be acted on. */
function makeRoom(all: readonly ShownToast[]): readonly ShownToast[] {
  if (all.length < MAX_SHOWN) return all;
  const plain = all.findIndex(({ action }) => action === undefined);
  return all.toSpliced(Math.max(plain, 0), 1);
}

export function clearToasts(): void {
  shown.value = [];
}
