const SECOND = 1_000;
/** A proxy spends at most a tenth of its time on one open page. */
const TIMES_AS_LONG = 9;

/** Milliseconds to wait before asking for the same again. @param took how long the answer took; undefined if there was none */
export function restAfter(took: number | undefined): number {
  return took === undefined ? SECOND : Math.max(SECOND, TIMES_AS_LONG * took);
}
