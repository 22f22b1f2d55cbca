/** Returns one field of each item. */
export const column = (items, name) => items.map((item) => item[name]);

/** Returns some fields of each item, as an array. */
export const columns = (items, ...names) => items.map((item) => names.map((name) => item[name]));
