/**
 * The space of a chart. It takes the place of a chart until the chart's code and the first rows are
 * loaded.
 */
import * as styles from "./trend_space.module.css";
export const TrendSpace = () => <div class={styles.space} aria-hidden="true" />;
