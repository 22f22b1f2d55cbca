/** Takes the place of a chart while its code loads. */
export const TREND_SPACE = <div class="trend-space" aria-hidden="true" />;
