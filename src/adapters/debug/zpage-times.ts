/** As `date -u` prints it: `Fri Sep  6 06:19:51 UTC 2024`. */
export function unixDate(milliseconds: number): string {
  const [weekday = '', day = '', month = '', year = '', time = ''] = new Date(milliseconds)
    .toUTCString()
    .replace(',', '')
    .split(' ');
  return `${weekday} ${month} ${String(Number(day)).padStart(2)} ${time} UTC ${year}`;
}

/** `3 hr 07 min 09 sec`. */
export function upTime(seconds: number): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${Math.floor(seconds / 3600)} hr ${two(Math.floor(seconds / 60) % 60)} min ${two(seconds % 60)} sec`;
}
