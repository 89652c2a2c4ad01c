import type { ApiObject } from './object-store.js';

export type Selector = (object: ApiObject) => boolean;

/** Label and field selectors of a request: `key`, `!key`, `key=value`, `key==value`, `key!=value`, `key in (value, value)`, comma-separated. */
export function selectorOf(query: URLSearchParams): Selector {
  const labels = terms(query.get('labelSelector'));
  const fields = terms(query.get('fieldSelector'));
  return (object) =>
    labels.every((term) => matches(term, object.metadata.labels?.[term.key])) &&
    fields.every((term) => matches(term, fieldOf(object, term.key) ?? ''));
}

/** The fields that a request selects by. */
export function selectedFields(query: URLSearchParams): readonly string[] {
  return terms(query.get('fieldSelector')).map(({ key }) => key);
}

interface Term {
  readonly key: string;
  readonly operator: 'exists' | 'absent' | 'equal' | 'different' | 'among';
  readonly value: string;
}

function terms(text: string | null): Term[] {
  return (text ?? '')
    .split(/,(?![^(]*\))/)
    .filter((term) => term !== '')
    .map((term) => {
      const among = /^(\S+) in \((.*)\)$/.exec(term);
      if (among) return { key: among[1]!, operator: 'among', value: among[2]! };
      const match = /^(!?)([^!=]+)(?:(!=|==?)(.*))?$/.exec(term);
      if (!match) throw new Error(`selector not understood: ${term}`);
      const [, negated, key = '', comparison, value = ''] = match;
      if (negated) return { key, operator: 'absent', value };
      if (!comparison) return { key, operator: 'exists', value };
      return { key, operator: comparison === '!=' ? 'different' : 'equal', value };
    });
}

function matches(term: Term, actual: string | undefined): boolean {
  switch (term.operator) {
    case 'exists':
      return actual !== undefined;
    case 'absent':
      return actual === undefined;
    case 'equal':
      return actual === term.value;
    case 'among':
      return term.value.split(/, ?/).includes(actual ?? '');
    case 'different':
      return actual !== term.value;
  }
}

function fieldOf(object: ApiObject, path: string): string | undefined {
  let value: unknown = object;
  for (const part of path.split('.')) value = (value as Record<string, unknown> | undefined)?.[part];
  return value === undefined ? undefined : String(value);
}
