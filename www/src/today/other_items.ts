/**
 * Returns whether newer items, deletions or other values of `keys` are known than those that were
 * read.
 *
 * @param read newest first
 * @param news items by id; `null` if an item was deleted
 */
export function hasOther<Item extends { createdAt: string | null }>(
  read: readonly Item[],
  news: readonly (readonly [string, Item | null])[],
  idOf: (item: Item) => string,
  keys: readonly (keyof Item)[],
): boolean {
  const known = new Map(read.map((item) => [idOf(item), item]));
  const newest = read[0]?.createdAt ?? "";
  return news.some(([id, item]) => {
    const before = known.get(id);
    if (item === null) return before !== undefined;
    if (before === undefined) return (item.createdAt ?? "") >= newest;
    return keys.some((key) => before[key] !== item[key]);
  });
}
