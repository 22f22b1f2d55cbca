/** Takes the place of a chart while its code loads. */
import * as styles from "./trend_space.module.css";
export const TREND_SPACE = <div class={styles.space} aria-hidden="true" />;
