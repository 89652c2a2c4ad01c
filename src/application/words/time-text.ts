/** A time, in milliseconds since the epoch, as terminals show it: `2026-05-04T12:02:11.040Z`. */
export function timeText(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
