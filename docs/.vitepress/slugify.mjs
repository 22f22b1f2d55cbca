/** Returns the anchor that GitHub creates for a heading. */
export function slugify(heading) {
  const letters = heading.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, "");
  return letters.trim().replaceAll(" ", "-");
}
