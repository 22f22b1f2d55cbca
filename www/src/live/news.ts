import { type Signal, signal } from "@preact/signals";
import type { Session } from "../session/session.ts";

/** Items by id, as the latest response or event described each; `null` if it was deleted. */
type ItemNews<Item> = ReadonlyMap<string, Item | null>;

/**
 * The items that the responses and events of a session described. Routes read them without loading
 * the code that follows the items.
 */
export class News<Item> {
  readonly #known = new WeakMap<Session, Signal<ItemNews<Item>>>();

  of(session: Session): Signal<ItemNews<Item>> {
    const known = this.#known.get(session) ?? signal<ItemNews<Item>>(new Map());
    this.#known.set(session, known);
    return known;
  }

  note(session: Session, items: readonly (readonly [id: string, item: Item | null])[]): void {
    const known = this.of(session);
    known.value = new Map([...known.peek(), ...items]);
  }
}
