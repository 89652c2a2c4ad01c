/** The fields of one line of comma-separated values, quoted as in RFC 4180; undefined when a quote is out of place. */
export function parseCsv(text: string): readonly string[] | undefined {
  const fields: string[] = [];
  const next = /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/y;
  for (;;) {
    const found = next.exec(text);
    if (!found) return undefined;
    const [, quoted, plain = '', end] = found;
    fields.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end === '') return fields;
  }
}

export function formatCsv(fields: readonly string[]): string {
  return fields
    .map((field) => (/[",\r\n]|^\s/.test(field) ? `"${field.replaceAll('"', '""')}"` : field))
    .join(',');
}
