/** Medians and quartiles. */

export function median(values) {
  return quantile(values, 0.5);
}

/** Interpolates between the two nearest values. */
export function quantile(values, part) {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (sorted.length - 1) * part;
  const below = sorted[Math.floor(at)];
  return below + (sorted[Math.ceil(at)] - below) * (at % 1);
}
