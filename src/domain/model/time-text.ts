/** A time, from milliseconds since the epoch, as answers and terminals show it: RFC 3339 in UTC, `2026-05-04T12:02:11.040Z`. */
export function timeText(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
