/** Items, newest first, and the cursor of the next page. */
export interface Listing<Item> {
  items: readonly Item[];
  /** The cursor of the next page; null after the last item. */
  more: string | null;
}

/** A page of a list, as the gateway returns it. */
export interface ListPage<Item> {
  items: readonly Item[];
  nextCursor: string | null;
  revision: number | null;
}

/** A change of one item. */
export type ItemUpdate<Item> =
  | { item: Item; deleted?: undefined }
  | { deleted: string; item?: undefined };

/** The properties of items that order and identify them. */
export interface ItemKind<Item> {
  idOf(item: Item): string;
  createdAtOf(item: Item): string | null;
}

/** How a filter treats a changed item. */
export interface AppliedFilter<Item> {
  meets(item: Item): boolean;
  /** Whether only some items are listed. */
  isFiltered: boolean;
  /** Whether only the gateway can tell if an item matches. */
  isSearch: boolean;
}

export interface AppliedEvent<Item> {
  listing: Listing<Item>;
  /** Whether the change may affect the list in a way that only the gateway can determine. */
  isOpen: boolean;
}

export function toListing<Item>({ items, nextCursor }: ListPage<Item>): Listing<Item> {
  return { items, more: nextCursor };
}

/** Replaces the newest items of a list with a fresh first page. */
export function renewListing<Item>(
  { idOf }: ItemKind<Item>,
  shown: Listing<Item>,
  page: ListPage<Item>,
): Listing<Item> {
  // The gateway stopped searching before the first match. The shown items came with later pages.
  if (page.items.length === 0 && page.nextCursor !== null) return shown;
  const ids = new Set(page.items.map(idOf));
  const last = shown.items.findLastIndex((item) => ids.has(idOf(item)));
  const older = shown.items.slice(last + 1);
  // Without an overlap, items between the page and the list may be missing.
  if (last === -1 || page.nextCursor === null) return toListing(page);
  return { items: [...page.items, ...older], more: shown.more };
}

/** Appends a page to a list, without duplicates. */
export function extendListing<Item>(
  { idOf }: ItemKind<Item>,
  shown: Listing<Item>,
  page: ListPage<Item>,
): Listing<Item> {
  const ids = new Set(shown.items.map(idOf));
  const further = page.items.filter((item) => !ids.has(idOf(item)));
  return { items: [...shown.items, ...further], more: page.nextCursor };
}

export function applyEvent<Item>(
  kind: ItemKind<Item>,
  shown: Listing<Item>,
  event: ItemUpdate<Item>,
  { meets, isFiltered, isSearch }: AppliedFilter<Item>,
): AppliedEvent<Item> {
  if (event.deleted !== undefined) {
    return { listing: removeItem(kind, shown, event.deleted), isOpen: false };
  }
  const { item } = event;
  const id = kind.idOf(item);
  const place = shown.items.findIndex((other) => kind.idOf(other) === id);
  if (!meets(item)) return { listing: removeItem(kind, shown, id), isOpen: false };
  if (place >= 0) {
    return { listing: { ...shown, items: shown.items.with(place, item) }, isOpen: false };
  }
  // An event contains only the prompt's first line. The search string may match another line.
  if (isSearch) return { listing: shown, isOpen: true };
  const listing = insertItem(kind, shown, item);
  // The cursor of a filtered list can be beyond an item that did not match before.
  return { listing, isOpen: isFiltered && listing === shown };
}

function removeItem<Item>(
  { idOf }: ItemKind<Item>,
  shown: Listing<Item>,
  id: string,
): Listing<Item> {
  if (!shown.items.some((item) => idOf(item) === id)) return shown;
  return { ...shown, items: shown.items.filter((item) => idOf(item) !== id) };
}

function insertItem<Item>(
  { createdAtOf }: ItemKind<Item>,
  shown: Listing<Item>,
  item: Item,
): Listing<Item> {
  const created = createdAtOf(item) ?? "";
  const next = shown.items.findIndex((other) => (createdAtOf(other) ?? "") <= created);
  // The item is older than the shown ones. It will load with a later page.
  if (next === -1 && shown.more !== null) return shown;
  const place = next === -1 ? shown.items.length : next;
  return { ...shown, items: shown.items.toSpliced(place, 0, item) };
}
