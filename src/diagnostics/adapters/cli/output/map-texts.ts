/** The same value with every text in it changed, names of fields included. */
export function mapTexts<Value>(value: Value, change: (text: string) => string): Value {
  return mapped(value, change) as Value;
}

function mapped(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((member) => mapped(member, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [change(name), mapped(field, change)]),
  );
}
