/** Medians and their precision. */

export function median(values) {
  return quantile(values, 0.5);
}

/** Half of the 95 % confidence interval of a median (McGill, Tukey and Larsen, 1978). */
export function estimateError(values) {
  const spread = quantile(values, 0.75) - quantile(values, 0.25);
  return (1.57 * spread) / Math.sqrt(values.length);
}

/** Interpolates between the two nearest values. */
function quantile(values, part) {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (sorted.length - 1) * part;
  const below = sorted[Math.floor(at)];
  return below + (sorted[Math.ceil(at)] - below) * (at % 1);
}
